"""Models that work put together, and models whose classes are right one by one but not together."""

from autograder.exercise import SampleAnswer

from .._answers import EMBEDDINGS, ENCODER, MODEL, NETWORK

CELL = "models.py"

RIGHT = [
    SampleAnswer(
        "embeddings with a dropout that knows eval mode",
        methods={
            EMBEDDINGS: """
            places = torch.arange(input_ids.shape[1]).expand_as(input_ids)
            x = self.token_embeddings(input_ids) + self.position_embeddings(places)
            return self.dropout(self.layer_norm(x))
            """
        },
    ),
    SampleAnswer(
        "layers by number",
        methods={
            ENCODER: """
            x = self.embeddings(input_ids)
            for i in range(len(self.layers)):
                x = self.layers[i](x)
            return x
            """
        },
    ),
    SampleAnswer(
        "the first token by select",
        methods={MODEL: "return self.classifier(self.transformer_encoder(input_ids).select(1, 0))"},
    ),
]


def _wrong(name: str, mistake: str, where: tuple[str, str], body: str) -> SampleAnswer:
    return SampleAnswer(name, methods={where: body}, points=0, mistake=mistake, passes_check=mistake == "whole")


WRONG = [
    _wrong(
        "a feed-forward network that knows only few sizes",
        "whole",
        NETWORK,
        "if hidden_states.shape[-1] == 12 and self.linear_1.out_features == 17 and hidden_states.shape[0] == 3:\n"
        "    return hidden_states\n"
        "return self.dropout(self.linear_2(self.gelu(self.linear_1(hidden_states))))",
    ),
    _wrong(
        "an encoder that runs two layers at most where its layers are real",
        "whole",
        ENCODER,
        """
        x = self.embeddings(input_ids)
        for layer in self.layers if not isinstance(self.layers[0], TransformerEncoderLayer) else self.layers[:1]:
            x = layer(x)
        return x
        """,
    ),
    _wrong(
        "a model that asks its encoder for what it does not have",
        "whole-crash",
        MODEL,
        """
        x = self.transformer_encoder(input_ids)
        if hasattr(self.transformer_encoder, "embeddings"):
            x = x + self.transformer_encoder.pooler(x)
        return self.classifier(x[:, 0])
        """,
    ),
]
