"""A model may be split only where its shape allows it, and serves no longer context than it has learnt."""

from collections.abc import Iterator

from rackwright.site.known.architectures import Architecture
from rackwright.site.models import Model
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.splitting import legal_tensor_parallel


def tensor_parallel_divides_the_heads(model: Model, place: Place) -> Iterator[Broken]:
    """Each GPU takes a whole share of the heads, and of the key and value heads a whole share or a copy."""
    legal = legal_tensor_parallel(model.shape)
    if model.tensor_parallel not in legal:
        yield Broken(
            (*place, "tensor_parallel"),
            f"is {model.tensor_parallel}, which does not divide {model.shape.attention_heads} attention heads and "
            f"{model.shape.kv_heads} key and value heads",
            f"write one of {', '.join(str(count) for count in legal)}",
        )


def pipeline_parallel_has_layers(model: Model, place: Place) -> Iterator[Broken]:
    """Each stage has one layer at least."""
    if model.pipeline_parallel > model.shape.layers:
        yield Broken(
            (*place, "pipeline_parallel"),
            f"is {model.pipeline_parallel}, and the model has {model.shape.layers} layers",
            f"write at most {model.shape.layers}",
        )


def context_is_within_the_model(model: Model, place: Place) -> Iterator[Broken]:
    """Beyond what it was trained on, a model answers nonsense, and vLLM refuses."""
    if model.context_length > model.shape.context_length:
        yield Broken(
            (*place, "context_length"),
            f"is {model.context_length}, and the model knows {model.shape.context_length} tokens",
            f"write at most {model.shape.context_length}",
        )


def stated_shapes_are_possible(model: Model, place: Place) -> Iterator[Broken]:
    """A shape that is written out holds together."""
    shape = model.architecture
    if isinstance(shape, Architecture):
        for key, what, cure in _contradictions(shape):
            yield Broken((*place, "architecture", key), what, cure)


def _contradictions(shape: Architecture) -> Iterator[tuple[str, str, str]]:
    if shape.latent is None and shape.attention_heads % shape.kv_heads:
        what = f"is {shape.kv_heads}, which does not divide attention_heads {shape.attention_heads}"
        yield "kv_heads", what, "write what config.json says for num_key_value_heads"
    if shape.active_parameters is not None and shape.active_parameters > shape.parameters:
        what = f"is {shape.active_parameters:g}, more than parameters {shape.parameters:g}"
        yield "active_parameters", what, "write the parameters that one token uses, in billions"
    if shape.sliding_layers > shape.caching_layers:
        what = f"is {shape.sliding_layers}, and {shape.caching_layers} layers keep keys and values"
        yield "sliding_layers", what, f"write at most {shape.caching_layers}"
    if shape.sliding_layers and shape.sliding_window is None:
        yield "sliding_layers", f"is {shape.sliding_layers} without sliding_window", "write the window, in tokens"
    for key in ("experts", "recurrent"):
        part = getattr(shape, key)
        if part is not None and part.layers > shape.layers:
            yield (
                key,
                f"has {part.layers} layers of the {shape.layers} that layers says",
                f"write at most {shape.layers}",
            )
    if shape.experts is not None and shape.experts.per_token > shape.experts.count:
        what = f"uses {shape.experts.per_token} experts for a token of {shape.experts.count} that there are"
        yield "experts", what, f"write per_token: {shape.experts.count} or less"
    for key in ("attention_layers", "mlp_layers"):
        count = getattr(shape, key)
        if count is not None and count > shape.layers:
            yield key, f"is {count}, and layers is {shape.layers}", f"write at most {shape.layers}"
