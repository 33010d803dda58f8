"""A person's rows in nbgrader's gradebook, and in the copies of it that lie in the course's folder."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

from nbgrader import api
from sqlalchemy import MetaData, select, text
from sqlalchemy.exc import SAWarning, SQLAlchemyError

from autograder.errors import GradingError, gradebook_said
from autograder.gradebook.read import open_book
from autograder.privacy.person import ErasedPerson


def students(db_url: str) -> list[api.Student]:
    """Everybody in a gradebook; nobody where there is none."""
    book = open_book(db_url)
    if book is None:
        return []
    with book:
        found = list(book.db.query(api.Student))
        book.db.expunge_all()
    return found


def rows_of(db_url: str, person: ErasedPerson) -> list[str]:
    """``table: number of rows`` that name the person."""
    book = open_book(db_url)
    if book is None:
        return []
    with book:
        return [f"{table}: {count}" for table, count in _named(book, person)]


def _named(book: api.Gradebook, person: ErasedPerson) -> Iterator[tuple[str, int]]:
    tables = MetaData()
    tables.reflect(bind=book.db.get_bind())
    for table in tables.sorted_tables:
        rows = book.db.execute(select(table)).all()
        count = sum(any(isinstance(cell, str) and person.is_in(cell.encode()) for cell in row) for row in rows)
        if count:
            yield table.name, count


def remove(db_url: str, person: ErasedPerson) -> int:
    """Delete the student with every submission, grade and comment; returns the number of submissions.

    SQLite is compacted afterwards, for it leaves deleted rows in the file. Raises GradingError.
    """
    book = open_book(db_url)
    if book is None:
        return 0
    try:
        with book, warnings.catch_warnings():
            warnings.simplefilter("ignore", SAWarning)
            known = book.db.query(api.Student).filter(api.Student.id.in_(person.ids)).all()
            count = sum(len(student.submissions) for student in known)
            for student in known:
                book.remove_student(student.id)
            book.db.commit()
            engine = book.db.get_bind()
            if engine.dialect.name == "sqlite":
                book.db.close()
                with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                    connection.execute(text("PRAGMA wal_checkpoint(TRUNCATE)"))
                    connection.execute(text("VACUUM"))
        return count
    except SQLAlchemyError as error:
        raise GradingError(f"the gradebook cannot be changed: {gradebook_said(error)}") from error
