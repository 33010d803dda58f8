"""Right and wrong loops that write."""

from __future__ import annotations

from .._answers import functions, wrong

HEAD = "def generate(model, ids, words, choose, end, context):"
LOGITS = "model(ids[None, -context:])[:, -1]"
APPEND = "ids = torch.cat([ids, choose(logits)])"
STOP = "if ids[-1] == end:"
ACCEPTED = {"detach": "Words are numbers, through which nobody trains."}

RIGHT = functions(HEAD, {
    "a list": """
        written = ids.tolist()
        for _ in range(words):
            logits = model(torch.tensor([written[-context:]]))[:, -1, :]
            written.append(int(choose(logits)))
            if written[-1] == end:
                break
        return torch.tensor(written)
    """,
    "while": """
        length = len(ids) + words
        while len(ids) < length:
            window = ids[max(len(ids) - context, 0) :]
            new = choose(model(window.unsqueeze(0))[:, -1]).reshape(1)
            ids = torch.cat((ids, new))
            if new.item() == end:
                return ids
        return ids
    """,
    "calling itself": """
        if words == 0:
            return ids
        new = choose(model(ids[-context:].view(1, -1))[:, -1])
        ids = torch.cat([ids, new])
        return ids if int(new) == end else generate(model, ids, words - 1, choose, end, context)
    """,
    "a row that is filled": """
        row = torch.zeros(len(ids) + words, dtype=torch.long)
        row[: len(ids)] = ids
        count = len(ids)
        for count in range(len(ids), len(row)):
            with torch.no_grad():
                row[count] = choose(model(row[max(0, count - context) : count][None])[0, -1:])[0]
            if row[count] == end:
                return row[: count + 1]
        return row
    """,
    "new words in a list of their own": """
        new = []
        while len(new) < words and end not in new:
            window = torch.cat([ids, torch.tensor(new, dtype=torch.long)])[-context:]
            new.append(choose(model(window[None])[:, -1]).item())
        return torch.cat([ids, torch.tensor(new, dtype=ids.dtype)])
    """,
})  # fmt: skip

WRONG = [
    wrong("the prompt is missing", "GEN-new",
          ("for _ in range(words):", "prompt = len(ids)\n    for _ in range(words):"),
          ("return ids", "return ids[prompt:]")),
    wrong("no stop", "GEN-on", (STOP, "if False:")),
    wrong("the end is missing", "GEN-no-end",
          (APPEND, "new = choose(logits)\n        if new == end:\n            break\n"
           "        ids = torch.cat([ids, new])"), points=1.5),
    wrong("an end anywhere", "GEN-anywhere", (STOP, "if end in ids:"), points=1.5),
    wrong("an end before", "GEN-begin", (LOGITS, "model(ids[None, -context:])[:, -1]\n        if end in ids:\n"
          "            break"), points=1.5),
    wrong("not cropped", "GEN-long", (LOGITS, "model(ids[None])[:, -1]")),
    wrong("the first words", "GEN-head", (LOGITS, "model(ids[None, :context])[:, -1]")),
    wrong("the last word", "GEN-one", (LOGITS, "model(ids[None, -1:])[:, -1]")),
    wrong("one word less of context", "GEN-short", (LOGITS, "model(ids[None, -(context - 1):])[:, -1]")),
    wrong("the result is cropped", "GEN-cut", ("return ids", "return ids[-context:]")),
    wrong("the first place", "GEN-place", (LOGITS, LOGITS.replace("[:, -1]", "[:, 0]"))),
    wrong("greedy", "GEN-greedy", ("choose(logits)", "logits.argmax(-1)")),
    wrong("probabilities", "GEN-softmax", ("choose(logits)", "choose(logits.softmax(-1))"), unseen=True),
    wrong("one more", "GEN-more", ("range(words)", "range(words + 1)")),
    wrong("one less", "GEN-less", ("range(words)", "range(words - 1)")),
    wrong("words in all", "GEN-total", ("range(words)", "range(words - len(ids))")),
    wrong("nothing appended", "GEN-prompt", (APPEND, "choose(logits)")),
    wrong("a second draw tells the end", "GEN-twice", (STOP, "if choose(logits) == end:")),
    wrong("logits without their first axis", "", (LOGITS, "model(ids[None, -context:])[0, -1]"),
          (APPEND, "ids = torch.cat([ids, choose(logits).reshape(1)])")),
]  # fmt: skip
