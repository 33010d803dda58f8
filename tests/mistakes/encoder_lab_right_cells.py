"""Right answers in other styles, in the notebooks' own cells."""

from textwrap import dedent, indent

from tests.mistakes.encoder_lab_answer import Answer
from tests.mistakes.encoder_lab_cells import DECODER_PARTS, POSITION_KINDS, READINGS


def function(exercise: str, head: str, **bodies: str) -> list[Answer]:
    """Answers that differ in the function's body; their names say how."""
    written = {says: indent(dedent(body).strip(), 4 * " ") for says, body in bodies.items()}
    return [Answer(exercise, says.replace("_", " "), f"{head}\n{body}\n") for says, body in written.items()]


CELLS_RIGHT = [
    *function(
        "attention_scores",
        "def attention_scores(query, key):",
        einsum="return torch.einsum('bnd,bmd->bnm', query, key) / key.shape[-1] ** 0.5",
        queries_scaled="return (query / math.sqrt(query.size(-1))) @ key.mT",
        added_up="return (query[:, :, None] * key[:, None]).sum(-1) / math.sqrt(key.size(2))",
        sentence_by_sentence="return torch.stack([(q @ k.T) * q.size(1) ** -0.5 for q, k in zip(query, key)])",
        in_float64="return (query.double() @ key.double().transpose(-1, -2) / math.sqrt(key.size(-1))).float()",
    ),
    *function(
        "attention_weights",
        "def attention_weights(scores):",
        method="return scores.softmax(2)",
        module="return nn.Softmax(dim=-1)(scores)",
        by_hand="""
            e = (scores - scores.max(-1, keepdim=True).values).exp()
            return e / e.sum(-1, keepdim=True)
        """,
        logarithms="return torch.exp(scores - torch.logsumexp(scores, -1, keepdim=True))",
        row_by_row="return torch.stack([torch.stack([row.softmax(0) for row in matrix]) for matrix in scores])",
    ),
    *function(
        "scaled_dot_product_attention",
        "def scaled_dot_product_attention(query, key, value):",
        own_steps="return attention_weights(attention_scores(query, key)) @ value",
        ready_made="return F.scaled_dot_product_attention(query, key, value)",
        einsum="""
            w = torch.einsum('bnd,bmd->bnm', query, key).div(key.size(-1) ** 0.5).softmax(-1)
            return torch.einsum('bnm,bme->bne', w, value)
        """,
        both="""
            w = F.softmax(query @ key.mT / math.sqrt(key.size(-1)), dim=-1)
            return w @ value, w
        """,
        summed_by_hand="""
            s = query @ key.mT / key.size(-1) ** 0.5
            return (s.softmax(-1)[..., None] * value[:, None]).sum(2)
        """,
    ),
    *function(
        "causal_mask",
        "def causal_mask(n):",
        truth_values="return torch.ones(1, n, n, dtype=torch.bool).tril()",
        comparison="""
            i = torch.arange(n)
            return (i[:, None] >= i)[None]
        """,
        whole_numbers="return torch.tril(torch.ones(n, n, dtype=torch.long)).unsqueeze(0)",
        loops="return torch.tensor([[[1.0 if j <= i else 0.0 for j in range(n)] for i in range(n)]])",
    ),
    *function(
        "masked_attention",
        "def scaled_dot_product_attention(query, key, value, mask=None):",
        where="""
            s = query @ key.mT / math.sqrt(key.size(-1))
            s = s if mask is None else torch.where(mask == 0, float('-inf'), s)
            return s.softmax(-1) @ value
        """,
        ready_made="""
            allowed = None if mask is None else mask.bool()
            return F.scaled_dot_product_attention(query, key, value, attn_mask=allowed)
        """,
        a_large_number="""
            s = query @ key.mT / math.sqrt(key.size(-1))
            if mask is not None:
                s = s.masked_fill(~mask.bool(), -1e9)
            return s.softmax(-1) @ value
        """,
        added="""
            s = query @ key.mT / math.sqrt(key.size(-1))
            if mask is not None:
                s = s + torch.zeros_like(mask).masked_fill(mask == 0, -math.inf)
            return s.softmax(-1) @ value
        """,
        not_scaled_but_masked="""
            s = query @ key.mT
            if mask is not None:
                s = s.masked_fill(mask == 0, -math.inf)
            return s.softmax(-1) @ value
        """,
    ),
    *function(
        "sentence_b_start",
        "def sentence_b_start(token_type_ids):",
        tensor="return (token_type_ids == 0).sum(dim=1)",
        first_one="return token_type_ids[0].tolist().index(1)",
        argmax="return token_type_ids.argmax(-1).item()",
        difference="return token_type_ids.numel() - int(token_type_ids.sum())",
    ),
    *function(
        "separator_share",
        "def separator_share(attention, tokens):",
        truth_values="""
            at = torch.tensor([t == '[SEP]' for t in tokens])
            return attention[..., at].sum(-1).mean(-1)
        """,
        einsum="""
            at = torch.tensor([float(t == '[SEP]') for t in tokens])
            return torch.einsum('hqk,k->hq', attention, at).mean(1)
        """,
        averaged_first="return sum(attention.mean(1)[:, i] for i, t in enumerate(tokens) if t == '[SEP]')",
        loops="""
            at = [i for i, t in enumerate(tokens) if t == '[SEP]']
            sums = [sum(float(row[i]) for row in head for i in at) for head in attention]
            return torch.tensor(sums) / len(tokens)
        """,
    ),
    Answer(
        "separator_heads",
        "a tensor",
        "separator_heads = torch.stack([separator_share(a, tokens) for a in attentions]).argmax(-1)",
    ),
    Answer("separator_heads", "read off", "separator_heads = (5, 8, 3, 11, 11, 8)"),
    Answer(
        "separator_heads",
        "measured anew",
        "at = [6, 12]\nseparator_heads = attentions[..., at].sum((-1, -2)).argmax(1).tolist()",
    ),
    Answer(
        "separator_heads",
        "sorted",
        "separator_heads = [max(range(12), key=lambda h: float(separator_share(a, tokens)[h])) for a in attentions]",
    ),
    *function(
        "previous_token",
        "def previous_token(attentions):",
        positions="""
            n = attentions.size(-1)
            return attentions[:, :, range(1, n), range(n - 1)].mean(-1)
        """,
        shifted="return attentions[..., 1:, :-1].diagonal(dim1=-2, dim2=-1).mean(-1)",
        loop="""
            n = attentions.size(-1)
            return sum(attentions[:, :, i, i - 1] for i in range(1, n)) / (n - 1)
        """,
        mask="""
            m = torch.ones(attentions.shape[-2:]).tril(-1).triu(-1)
            return (attentions * m).sum((-1, -2)) / m.sum()
        """,
    ),
    *function(
        "products",
        "def products(query, keys):",
        einsum="return torch.einsum('d,td->td', query, keys) / len(query) ** 0.5",
        query_scaled="return keys * (query / math.sqrt(query.numel()))",
        loop="return torch.stack([query * key / math.sqrt(len(key)) for key in keys])",
        diagonal="return keys @ torch.diag(query) / query.size(0) ** 0.5",
    ),
    *function(
        "moved",
        "def moved(original, shuffled, order):",
        put_back="""
            back = torch.empty_like(shuffled)
            back[:, order] = shuffled
            return (original - back).norm(dim=-1).mean(1)
        """,
        inverse="return (original - shuffled[:, order.argsort()]).pow(2).sum(-1).sqrt().mean(-1)",
        linalg="return torch.linalg.vector_norm(original[:, order] - shuffled, dim=2).mean(dim=1)",
        loop="""
            places = list(enumerate(order.tolist()))
            sums = [sum((a[j] - b[i]).norm() for i, j in places) for a, b in zip(original, shuffled)]
            return torch.stack(sums) / len(order)
        """,
    ),
]
QUESTIONS_RIGHT = [
    Answer(name, says, f"{name} = {made(right)}")
    for name, right in (("position_kinds", POSITION_KINDS), ("decoder_parts", DECODER_PARTS), ("readings", READINGS))
    for says, made in (
        ("a tuple", tuple),
        ("capitals", lambda x: [w.capitalize() for w in x]),
        ("spaces", lambda x: [f" {w} " for w in x]),
        ("a list", list),
    )
]

RIGHT = [*CELLS_RIGHT, *QUESTIONS_RIGHT]
