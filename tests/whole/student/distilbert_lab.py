"""A student's answers to distilbert_lab, cell id -> code. Written from the released notebooks alone."""

TRAINING = {
    "training_step_answer": """
def training_step(model, optimizer, inputs, labels):
    optimizer.zero_grad()
    loss = F.cross_entropy(model(inputs), labels)
    loss.backward()
    optimizer.step()
    return loss.item()
""",
    "fit_answer": """
def fit(model, optimizer, train, test, epochs, step):
    history = []
    for _ in range(epochs):
        model.train()
        total_loss = 0
        sentences = 0
        for inputs, labels in train:
            total_loss += step(model, optimizer, inputs, labels) * len(labels)
            sentences += len(labels)
        model.eval()
        right = 0
        tested = 0
        with torch.no_grad():
            for inputs, labels in test:
                right += (model(inputs).argmax(dim=1) == labels).sum().item()
                tested += len(labels)
        history.append((total_loss / sentences, right / tested))
    return history
""",
    "schedule_answer": """
def schedule(step, warmup, total):
    if step < warmup:
        return step / warmup
    if step >= total:
        return 0.0
    return (total - step) / (total - warmup)
""",
    "adamw_step_answer": """
def adamw_step(weight, gradient, m, v, step, lr, beta1, beta2, eps, weight_decay):
    m = beta1 * m + (1 - beta1) * gradient
    v = beta2 * v + (1 - beta2) * gradient**2
    m_hat = m / (1 - beta1**step)
    v_hat = v / (1 - beta2**step)
    weight = weight * (1 - lr * weight_decay)
    weight = weight - lr * m_hat / (v_hat.sqrt() + eps)
    return weight, m, v
""",
    # A falls fast; B goes up only; C hardly falls; D begins high and goes up and down.
    "rates_answer": 'rates = ["good", "no zero_grad", "too small", "too large"]',
}

DISTILLATION = {
    "student_from_answer": """
def student_from(teacher, layers):
    student = copy.deepcopy(teacher)
    student.layers = nn.ModuleList([student.layers[i] for i in layers])
    return student
""",
    "soft_loss_answer": """
def soft_loss(student_logits, teacher_logits, temperature):
    log_q = (teacher_logits.detach() / temperature).log_softmax(dim=-1)
    log_p = (student_logits / temperature).log_softmax(dim=-1)
    kl = (log_q.exp() * (log_q - log_p)).sum(dim=-1)
    return kl.mean() * temperature**2
""",
    "hidden_loss_answer": """
def hidden_loss(student_hidden, teacher_hidden, real):
    cosines = F.cosine_similarity(student_hidden, teacher_hidden, dim=-1)
    return (1 - cosines[real]).mean()
""",
    "distil_step_answer": """
def distil_step(student, teacher, optimizer, ids, soft, hidden, weight):
    teacher.eval()
    with torch.no_grad():
        teacher_logits, teacher_hidden = teacher(ids)
    optimizer.zero_grad()
    student_logits, student_hidden = student(ids)
    loss = soft(student_logits, teacher_logits) + weight * hidden(student_hidden, teacher_hidden, ids != 0)
    loss.backward()
    optimizer.step()
    return loss.item()
""",
    "quantise_answer": """
def quantise(weight):
    scale = (weight.abs().amax(dim=1, keepdim=True) / 127).clamp(min=1e-12)
    codes = (weight / scale).round().to(torch.int8)
    return codes, scale


def restore(codes, scale):
    return codes.float() * scale
""",
    "reading_answer": 'reading = ["differ", "noise", "differ", "noise"]',
}

PROBING = {
    "probe_answer": """
def probe(train, labels, test, strength):
    mean = train.mean(dim=0)
    deviation = train.std(dim=0, correction=0)
    train = (train - mean) / deviation
    test = (test - mean) / deviation
    base = labels.mean()
    A = train.T @ train + strength * torch.eye(train.shape[1])
    w = torch.linalg.solve(A, train.T @ (labels - base))
    return test @ w + base
""",
    "control_labels_answer": """
def control_labels(train_words, test_words, vocabulary, generator):
    table = torch.randint(2, (vocabulary,), generator=generator)
    return table[train_words], table[test_words]
""",
    "head_parts_answer": """
def head_parts(context, out_lin, heads):
    size = context.shape[1] // heads
    parts = []
    for h in range(heads):
        start, stop = h * size, (h + 1) * size
        parts.append(context[:, start:stop] @ out_lin.weight[:, start:stop].T)
    return torch.stack(parts)
""",
    "through_norm_answer": """
def through_norm(parts, norm):
    scale = (parts.sum(dim=0).var(correction=0) + norm.eps).sqrt()
    centred = parts - parts.mean(dim=-1, keepdim=True)
    return centred / scale * norm.weight
""",
    "disagree_answer": 'disagree = ["indirect", "redundant", "idle", "agree", "not shown", "shown"]',
}

ANSWERS = {"1_training": TRAINING, "2_distillation": DISTILLATION, "3_probing": PROBING}
