"""Tests of models.py: python -m pytest tests (everything), python -m pytest tests -k feed_forward (one class).

Each says in its name what must hold for any right answer. None of them says how to get there, and grading looks
further than they do.
"""

import sys
from pathlib import Path

import pytest
import torch

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import models

SIZES = dict(vocab_size=31, max_position_embeddings=9, d_model=12, num_attention_heads=3, intermediate_size=20)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def ids(batch=2, tokens=5):
    return torch.randint(0, SIZES["vocab_size"], (batch, tokens))


# --- AttentionHead ----------------------------------------------------------------------------------------------------


def test_attention_head_gives_a_vector_of_length_d_v_for_each_token():
    head = models.AttentionHead(d_model=12, d_k=4, d_q=4, d_v=5)
    assert head(torch.randn(2, 7, 12)).shape == (2, 7, 5)


def test_attention_head_method_takes_more_keys_than_queries():
    head = models.AttentionHead(12, 4, 4, 5)
    output, weights = head.scaled_dot_product_attention(torch.randn(2, 3, 4), torch.randn(2, 7, 4), torch.randn(2, 7, 5))
    assert output.shape == (2, 3, 5)
    assert weights.shape == (2, 3, 7)


def test_attention_head_weights_of_each_query_sum_to_1():
    head = models.AttentionHead(12, 4, 4, 5)
    _, weights = head.scaled_dot_product_attention(torch.randn(2, 3, 4), torch.randn(2, 7, 4), torch.randn(2, 7, 5))
    assert torch.allclose(weights.sum(-1), torch.ones(2, 3))
    assert (weights >= 0).all()


def test_attention_head_gives_equal_keys_equal_weights():
    head = models.AttentionHead(12, 4, 4, 5)
    values = torch.randn(1, 6, 5)
    output, _ = head.scaled_dot_product_attention(torch.randn(1, 3, 4), torch.ones(1, 6, 4), values)
    assert torch.allclose(output, values.mean(1, keepdim=True).expand(1, 3, 5), atol=1e-6)


def test_attention_head_scores_of_long_vectors_are_scaled():
    # 100 products of 1 and 0.1 make 10; scaled, this is 1, and e to the 1 is the ratio of the two weights
    head = models.AttentionHead(100, 100, 100, 2)
    keys = torch.stack([torch.full((100,), 0.1), torch.zeros(100)])[None]
    _, weights = head.scaled_dot_product_attention(torch.ones(1, 1, 100), keys, torch.randn(1, 2, 2))
    assert weights[0, 0, 0] / weights[0, 0, 1] == pytest.approx(2.71828, rel=1e-3)


def test_attention_head_survives_large_scores():
    head = models.AttentionHead(12, 4, 4, 5)
    output, _ = head.scaled_dot_product_attention(torch.full((1, 2, 4), 1e3), torch.randn(1, 3, 4) * 1e3, torch.randn(1, 3, 5))
    assert torch.isfinite(output).all()


def test_attention_head_treats_a_shuffled_sentence_alike():
    head = models.AttentionHead(12, 4, 4, 5)
    x, order = torch.randn(1, 6, 12), torch.randperm(6)
    assert torch.allclose(head(x[:, order]), head(x)[:, order], atol=1e-6)


# --- MultiHeadAttention -----------------------------------------------------------------------------------------------


def test_multi_head_attention_keeps_the_shape():
    attention = models.MultiHeadAttention(d_model=12, num_attention_heads=3)
    assert attention(torch.randn(2, 5, 12)).shape == (2, 5, 12)


def test_multi_head_attention_has_heads_of_its_own():
    attention = models.MultiHeadAttention(12, 3)
    assert len(attention.heads) == 3
    assert len({id(head) for head in attention.heads}) == 3


def test_multi_head_attention_trains_every_head():
    attention = models.MultiHeadAttention(12, 3)
    known = {id(parameter) for parameter in attention.parameters()}
    assert all(id(parameter) in known for head in attention.heads for parameter in head.parameters())


def test_multi_head_attention_keeps_sentences_apart():
    attention = models.MultiHeadAttention(12, 3).eval()
    x = torch.randn(3, 5, 12)
    assert torch.allclose(attention(x)[1:2], attention(x[1:2]), atol=1e-6)


def test_multi_head_attention_takes_no_vector_that_cannot_be_shared():
    with pytest.raises(Exception) as refused:
        models.MultiHeadAttention(10, 3)(torch.randn(1, 2, 10))
    assert not isinstance(refused.value, NotImplementedError)


# --- FeedForward ------------------------------------------------------------------------------------------------------


def test_feed_forward_keeps_the_shape_and_is_wide_inside():
    network = models.FeedForward(d_model=6, intermediate_size=24)
    assert network(torch.randn(2, 5, 6)).shape == (2, 5, 6)
    assert network.linear_1.out_features == network.linear_2.in_features == 24


def test_feed_forward_works_on_each_token_by_itself():
    network = models.FeedForward(6, 24).eval()
    x = torch.randn(1, 5, 6)
    changed = x.clone()
    changed[:, 2] += 1
    same = (network(x) == network(changed)).all(-1)[0]
    assert same.tolist() == [True, True, False, True, True]


def test_feed_forward_is_not_linear():
    network = models.FeedForward(6, 24).eval()
    x = torch.randn(1, 5, 6)
    middle = (network(x) + network(-x)) / 2
    assert not torch.allclose(middle, network(0 * x), atol=1e-4)


# --- Embeddings -------------------------------------------------------------------------------------------------------


def test_embeddings_gives_a_vector_for_each_token():
    module = models.Embeddings(vocab_size=31, max_position_embeddings=9, d_model=12)
    assert module(ids()).shape == (2, 5, 12)


def test_embeddings_differ_by_position_and_not_by_sentence():
    module = models.Embeddings(31, 9, 12).eval()
    vectors = module(torch.full((2, 4), 7))
    assert torch.equal(vectors[0], vectors[1])
    assert not torch.allclose(vectors[0, 0], vectors[0, 1])


def test_embeddings_are_normalised():
    vectors = models.Embeddings(31, 9, 12).eval()(ids())
    assert torch.allclose(vectors.mean(-1), torch.zeros(2, 5), atol=1e-5)
    assert torch.allclose(vectors.var(-1, unbiased=False), torch.ones(2, 5), atol=1e-3)


def test_embeddings_refuse_a_sentence_that_is_too_long():
    with pytest.raises(Exception) as refused:
        models.Embeddings(31, 9, 12)(ids(tokens=10))
    assert not isinstance(refused.value, NotImplementedError)


# --- TransformerEncoderLayer ------------------------------------------------------------------------------------------


def small_layer():
    return models.TransformerEncoderLayer(d_model=12, num_attention_heads=3, intermediate_size=20).eval()


def test_encoder_layer_keeps_the_shape():
    assert small_layer()(torch.randn(2, 5, 12)).shape == (2, 5, 12)


def test_encoder_layer_is_all_skip_where_its_sublayers_are_silent():
    layer = small_layer()
    for silent in (layer.attention.output_linear, layer.feed_forward.linear_2):
        torch.nn.init.zeros_(silent.weight)
        torch.nn.init.zeros_(silent.bias)
    x = torch.randn(2, 5, 12)
    assert torch.allclose(layer(x), x)


def test_encoder_layer_normalises_before_its_sublayers():
    layer = small_layer()
    x = torch.randn(2, 5, 12)
    change, far = layer(x) - x, 100 * x
    # after the norm a hundredfold input looks like the input; so the change of the first sublayer stays small
    assert (layer(far) - far).abs().max() < 20 * change.abs().max()


# --- TransformerEncoder -----------------------------------------------------------------------------------------------


def test_encoder_gives_a_vector_for_each_token():
    assert models.TransformerEncoder(**SIZES, num_hidden_layers=4)(ids()).shape == (2, 5, 12)


def test_encoder_has_layers_of_its_own_and_trains_them():
    encoder = models.TransformerEncoder(**SIZES, num_hidden_layers=4)
    known = {id(parameter) for parameter in encoder.parameters()}
    assert len({id(layer) for layer in encoder.layers}) == 4
    assert all(id(parameter) in known for layer in encoder.layers for parameter in layer.parameters())


def test_encoder_calls_its_layers_once_each_in_order():
    encoder = models.TransformerEncoder(**SIZES, num_hidden_layers=4).eval()
    called = []
    for number, layer in enumerate(encoder.layers):
        layer.register_forward_hook(lambda module, inputs, output, number=number: called.append(number))
    encoder(ids())
    assert called == [0, 1, 2, 3]


# --- ClassificationHead and the whole model ---------------------------------------------------------------------------


def test_classification_head_gives_a_number_for_each_class():
    assert models.ClassificationHead(d_model=12, num_classes=3, dropout_prob=0.1)(torch.randn(4, 12)).shape == (4, 3)


def test_classification_head_drops_in_training_only():
    head = models.ClassificationHead(12, 3, 0.5)
    x = torch.randn(4, 12)
    assert not torch.equal(head.train()(x), head(x))
    assert torch.equal(head.eval()(x), head(x))


def small_model():
    return models.TransformerForSequenceClassification(**SIZES, num_hidden_layers=2, num_classes=3, dropout_prob=0.1)


def test_model_gives_logits_for_each_sentence():
    assert small_model()(ids(4, 6)).shape == (4, 3)


def test_model_is_sure_of_its_answer_in_eval_mode():
    model, sentence = small_model().eval(), ids()
    assert torch.equal(model(sentence), model(sentence))


def test_model_can_be_trained():
    model = small_model()
    torch.nn.functional.cross_entropy(model(ids(4, 6)), torch.tensor([0, 1, 2, 0])).backward()
    assert all(parameter.grad is not None for parameter in model.parameters())
