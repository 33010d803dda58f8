"""What an author of exercises needs: trying answers, checking an assignment, making new ones."""
