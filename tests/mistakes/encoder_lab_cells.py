"""Wrong answers in the notebooks' own cells: functions, masks, questions, and measures on attentions."""

from tests.mistakes.encoder_lab_answer import Answer


def scores(says: str, code: str, mistake: str = "") -> Answer:
    return Answer("attention_scores", says, f"def attention_scores(query, key):\n    return {code}\n", mistake)


def weights(says: str, code: str, mistake: str = "") -> Answer:
    return Answer("attention_weights", says, f"def attention_weights(scores):\n    return {code}\n", mistake)


def attention(says: str, made: str, result: str = "weights @ value", mistake: str = "") -> Answer:
    code = f"""def scaled_dot_product_attention(query, key, value):
    scores = query @ key.transpose(1, 2)
    root = math.sqrt(key.size(-1))
    weights = {made}
    return {result}
"""
    return Answer("scaled_dot_product_attention", says, code, mistake)


STEPS_WRONG = [
    scores("not scaled", "query @ key.transpose(1, 2)", "M2"),
    scores("divided by d", "query @ key.transpose(1, 2) / key.size(-1)", "M3"),
    scores("multiplied by the root", "query @ key.transpose(1, 2) * math.sqrt(key.size(-1))", "M3-inverse"),
    scores("root of the keys' number", "query @ key.transpose(1, 2) / math.sqrt(key.size(1))", "M3-keys"),
    scores("root of the queries' number", "query @ key.transpose(1, 2) / math.sqrt(query.size(1))", "M3-queries"),
    scores("root of the batch", "query @ key.transpose(1, 2) / math.sqrt(len(key))", "M3-batch"),
    scores("query and key exchanged", "key @ query.transpose(1, 2) / math.sqrt(key.size(-1))"),
    scores("a softmax already", "F.softmax(query @ key.transpose(1, 2) / math.sqrt(key.size(-1)), -1)", "M1-early"),
    weights("over the queries", "F.softmax(scores, dim=1)", "M1"),
    weights("over the batch", "F.softmax(scores, dim=0)", "M1-batch"),
    weights("over a whole sentence", "F.softmax(scores.flatten(1), dim=-1).view(scores.shape)", "M1-all"),
    weights("logarithms", "F.log_softmax(scores, dim=-1)", "M1-log"),
    weights("nothing done", "scores", "M1-none"),
    weights("a sigmoid", "torch.sigmoid(scores)", "M1-sigmoid"),
    weights("divided by the sum", "scores / scores.sum(-1, keepdim=True)", "M1-linear"),
    weights("exponentials alone", "scores.exp()", "M1-exp"),
    weights("twice", "F.softmax(F.softmax(scores, -1), -1)", "M1-twice"),
    weights("by hand, and overflowing", "scores.exp() / scores.exp().sum(-1, keepdim=True)", "M1-overflow"),
    attention("not scaled", "F.softmax(scores, -1)", mistake="M2"),
    attention("divided by d", "F.softmax(scores / root**2, -1)", mistake="M3"),
    attention("multiplied by the root", "F.softmax(scores * root, -1)", mistake="M3-inverse"),
    attention("over the queries", "F.softmax(scores / root, 1)", mistake="M1"),
    attention("over the batch", "F.softmax(scores / root, 0)", mistake="M1-batch"),
    attention("no softmax", "scores / root", mistake="M1-none"),
    attention("scaled too late", "F.softmax(scores, -1) / root", mistake="M3-late"),
    attention("softmax of the mixture", "scores / root", "F.softmax(weights @ value, -1)", "M9"),
    attention("every value alike", "torch.full_like(scores, 1 / scores.size(-1))", mistake="M9-mean"),
    attention("weights transposed", "F.softmax(scores / root, -1)", "weights.transpose(1, 2) @ value"),
]


def mask(says: str, code: str, mistake: str = "") -> Answer:
    return Answer("causal_mask", says, f"def causal_mask(n):\n    return {code}\n", mistake)


def masked(says: str, code: str, mistake: str = "") -> Answer:
    text = f"""def scaled_dot_product_attention(query, key, value, mask=None):
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(key.size(-1))
    if mask is None:
        return torch.bmm(F.softmax(scores, dim=-1), value)
    return torch.bmm({code}, value)
"""
    return Answer("masked_attention", says, text, mistake)


def filled(says: str, value: str, mistake: str) -> Answer:
    return masked(says, f"F.softmax(scores.masked_fill(mask == 0, {value}), -1)", mistake)


MASKS_WRONG = [
    mask("turned round", "(1 - torch.tril(torch.ones(n, n)))[None]", "M10-inverted"),
    mask("upper triangle", "torch.triu(torch.ones(n, n))[None]", "M10-upper"),
    mask("no diagonal", "torch.tril(torch.ones(n, n), -1)[None]", "M10-diagonal"),
    mask("one too far", "torch.tril(torch.ones(n, n), 1)[None]", "M10-ahead"),
    mask("all ones", "torch.ones(1, n, n)", "M10-ones"),
    mask("the diagonal alone", "torch.eye(n)[None]", "M10-eye"),
    mask("no axis in front", "torch.tril(torch.ones(n, n))", "M10-shape"),
    mask(
        "infinite already",
        "torch.zeros(n, n).masked_fill(torch.triu(torch.ones(n, n), 1) == 1, -math.inf)[None]",
        "M10-filled",
    ),
    masked("mask ignored", "F.softmax(scores, -1)", "M10-ignored"),
    filled("filled with 0", "0.0", "M10-zero"),
    filled("filled with a tiny number", "1e-9", "M10-zero"),
    filled("filled with -1", "-1.0", "M10-minus-one"),
    filled("filled with plus infinity", "math.inf", "M10-infinity"),
    masked("scores multiplied", "F.softmax(scores * mask, -1)", "M10-zero"),
    masked("after the softmax", "F.softmax(scores, -1) * mask", "M10-late"),
    masked("mask added", "F.softmax(scores + mask, -1)", "M10-added"),
    masked("turned round", "F.softmax(scores.masked_fill(mask == 1, -math.inf), -1)", ""),
    masked("0 times infinity", "F.softmax(scores + (1 - mask) * -math.inf, -1)", ""),
]


def listed(exercise: str, right: list[str], options: tuple[str, ...]) -> list[Answer]:
    """Each statement answered wrongly once, and a list that is too short."""
    answers = []
    for place, value in enumerate(right):
        wrong = [*right]
        wrong[place] = next(option for option in options if option != value)
        answers.append(Answer(exercise, f"statement {place + 1}", f"{exercise} = {wrong}"))
    return [
        *answers,
        Answer(exercise, "too short", f"{exercise} = {right[:-1]}"),
        Answer(exercise, "one answer for all", f"{exercise} = {[right[0]] * len(right)}"),
        Answer(exercise, "not to choose from", f"{exercise} = {['maybe'] * len(right)}"),
    ]


POSITION_KINDS = ["learned", "sinusoidal", "relative", "learned"]
DECODER_PARTS = ["decoder", "decoder", "decoder", "encoder", "encoder"]
READINGS = ["separator", "next", "same word", "previous", "kept", "lost"]
QUESTIONS_WRONG = [
    *listed("position_kinds", POSITION_KINDS, ("learned", "sinusoidal", "relative")),
    *listed("decoder_parts", DECODER_PARTS, ("encoder", "decoder")),
    *listed("readings", READINGS[:4] + READINGS[4:], ("previous", "next")),
]


def start(says: str, code: str, mistake: str = "") -> Answer:
    return Answer("sentence_b_start", says, f"def sentence_b_start(token_type_ids):\n    return {code}\n", mistake)


def share(says: str, code: str, mistake: str = "") -> Answer:
    text = f"""def separator_share(attention, tokens):
    at = [i for i, token in enumerate(tokens) if token == "[SEP]"]
    return {code}
"""
    return Answer("separator_share", says, text, mistake)


def six(says: str, code: str, mistake: str = "") -> Answer:
    return Answer(
        "separator_heads",
        says,
        f"shares = torch.stack([separator_share(a, tokens) for a in attentions])\nseparator_heads = {code}\n",
        mistake,
    )


def previous(says: str, code: str, mistake: str = "") -> Answer:
    return Answer(
        "previous_token",
        says,
        f"def previous_token(attentions):\n    n = attentions.size(-1)\n    return {code}\n",
        mistake,
    )


def product(says: str, code: str, mistake: str = "") -> Answer:
    return Answer("products", says, f"def products(query, keys):\n    return {code}\n", mistake)


def moved(says: str, code: str, mistake: str = "") -> Answer:
    return Answer("moved", says, f"def moved(original, shuffled, order):\n    return {code}\n", mistake)


DIFFERENCE = "(original[:, order] - shuffled)"
VIEWS_WRONG = [
    start("the first [SEP]", "int((token_type_ids == 0).sum()) - 1", "start-sep"),
    start("one too far", "int((token_type_ids == 0).sum()) + 1", "start-next"),
    start("length of the second", "int(token_type_ids.sum())", "start-second"),
    start("length of both", "token_type_ids.size(1)", "start-all"),
    start("words only", "int((token_type_ids == 0).sum()) - 2", "start-words"),
    start("the first token", "0", "start-zero"),
    start("wrong axis", "(token_type_ids == 0).sum(0)"),
    share("the first [SEP]", "attention[:, :, at[0]].mean(-1)", "share-first"),
    share("the last [SEP]", "attention[:, :, at[-1]].mean(-1)", "share-last"),
    share("rows", "attention[:, at].sum(1).mean(-1)", "share-rows"),
    share("average of both [SEP]", "attention[:, :, at].mean((1, 2))", "share-mean"),
    share("sum over the queries", "attention[:, :, at].sum((1, 2))", "share-sum"),
    share("the largest", "attention[:, :, at].sum(-1).amax(-1)", "share-max"),
    share("[CLS]", "attention[:, :, 0].mean(-1)", "share-cls"),
    share("the others", "1 - attention[:, :, at].sum(-1).mean(-1)", "share-others"),
    share("over the heads", "attention[:, :, at].sum(-1).mean(0)", "share-heads"),
    six("the least", "shares.argmin(-1).tolist()", "heads-least"),
    six("counted from 1", "(shares.argmax(-1) + 1).tolist()", "heads-from-one"),
    six("over the layers", "shares.argmax(0).tolist()", "heads-layers"),
    six("the second", "shares.argsort(-1)[:, -2].tolist()", "heads-second"),
    six("layer 0 for all", "[int(shares[0].argmax())] * 6", "heads-one-layer"),
    six("reversed", "shares.argmax(-1).tolist()[::-1]", "heads-reversed"),
    six("one of 72", "[int(shares.argmax())]"),
    previous("the next", "attentions.diagonal(1, -2, -1).mean(-1)", "previous-next"),
    previous("itself", "attentions.diagonal(0, -2, -1).mean(-1)", "previous-self"),
    previous("two back", "attentions.diagonal(-2, -2, -1).mean(-1)", "previous-two"),
    previous("a sum", "attentions.diagonal(-1, -2, -1).sum(-1)", "previous-sum"),
    previous("the largest", "attentions.diagonal(-1, -2, -1).amax(-1)", "previous-max"),
    previous("divided by all tokens", "attentions.diagonal(-1, -2, -1).sum(-1) / n", "previous-all"),
    previous("around the corner", "attentions[:, :, range(n), [i - 1 for i in range(n)]].mean(-1)", "previous-around"),
    previous("over the heads", "attentions.diagonal(-1, -2, -1).mean((-1, 1))", "previous-heads"),
    previous("over the layers", "attentions.diagonal(-1, -2, -1).mean((-1, 0))", "previous-layers"),
    product("not scaled", "query * keys", "M2"),
    product("divided by d", "query * keys / len(query)", "M3"),
    product("root of the tokens", "query * keys / math.sqrt(len(keys))", "M3-keys"),
    product("added up", "keys @ query / math.sqrt(len(query))", "product-sum"),
    product("softmax", "(query * keys / math.sqrt(len(query))).softmax(-1)", "product-softmax"),
    product("plus", "(query + keys) / math.sqrt(len(query))", "product-added"),
    product("transposed", "(query * keys / math.sqrt(len(query))).T", "product-turned"),
    product("no sign", "(query * keys).abs() / math.sqrt(len(query))", "product-absolute"),
    moved("places", "(original - shuffled).norm(dim=-1).mean(-1)", "moved-places"),
    moved("the wrong direction", "(original - shuffled[:, order]).norm(dim=-1).mean(-1)", "moved-back"),
    moved("a sum", f"{DIFFERENCE}.norm(dim=-1).sum(-1)", "moved-sum"),
    moved("the farthest", f"{DIFFERENCE}.norm(dim=-1).amax(-1)", "moved-max"),
    moved("no root", f"{DIFFERENCE}.pow(2).sum(-1).mean(-1)", "moved-square"),
    moved("one long vector", f"{DIFFERENCE}.flatten(1).norm(dim=-1)", "moved-whole"),
    moved("signs cancel", f"{DIFFERENCE}.mean((1, 2))", "moved-signed"),
    moved("size of a number", f"{DIFFERENCE}.abs().mean((1, 2))", "moved-absolute"),
    moved("over the layers", f"{DIFFERENCE}.norm(dim=-1).mean(0)", "moved-layers"),
]

WRONG = [*STEPS_WRONG, *MASKS_WRONG, *QUESTIONS_WRONG, *VIEWS_WRONG]
