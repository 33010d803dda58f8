"""Right and wrong answers to ``sentence_b_start``."""

from .._answers import right_functions, wrong_functions

HEAD = "def sentence_b_start(token_type_ids):"

RIGHT = right_functions(
    HEAD,
    {
        "tensor": "return (token_type_ids == 0).sum(dim=1)",
        "first one": "return token_type_ids[0].tolist().index(1)",
        "argmax": "return token_type_ids.argmax(-1).item()",
        "difference": "return token_type_ids.numel() - int(token_type_ids.sum())",
    },
)
WRONG = wrong_functions(
    HEAD,
    ("the first [SEP]", "int((token_type_ids == 0).sum()) - 1", "start-sep"),
    ("one too far", "int((token_type_ids == 0).sum()) + 1", "start-next"),
    ("length of the second", "int(token_type_ids.sum())", "start-second"),
    ("length of both", "token_type_ids.size(1)", "start-all"),
    ("words only", "int((token_type_ids == 0).sum()) - 2", "start-words"),
    ("the first token", "0", "start-zero"),
    ("wrong axis", "(token_type_ids == 0).sum(0)", ""),
)
