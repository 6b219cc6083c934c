"""What the engine is told: its command line and its environment."""

from components.vllm.timing import DRAIN_S, startup_s
from components.vllm.weights import CACHE, adapter_folder, model_folder
from rackwright.site.models import Model
from rackwright.site.serving import Serving

PORT = 8000
BLOCK_TOKENS = 64  # the router reckons with no smaller ones, and would believe in four times the cache
KEEP_ALIVE_S = 105  # longer than the gateway and a door keep an idle connection: neither ever meets a closing one


def command(model: Model, serving: Serving, *, routed: bool = False, counted: bool = False) -> list[str]:
    """The whole command line; nothing is left to the image's entrypoint, which has changed before."""
    return ["vllm", "serve", model_folder(model), *arguments(model, serving, routed=routed, counted=counted)]


def arguments(model: Model, serving: Serving, *, routed: bool = False, counted: bool = False) -> list[str]:
    """Flags of `vllm serve`; what matters is said even where it is the default. A router wants blocks that it knows.

    Where tokens are counted, every chunk of a stream says how many there were, whether the client asked or not.
    """
    return [
        f"--served-model-name={model.name}",
        "--host=0.0.0.0",
        f"--port={PORT}",
        f"--tensor-parallel-size={model.tensor_parallel}",
        f"--pipeline-parallel-size={model.pipeline_parallel}",
        f"--max-model-len={model.context_length}",
        f"--max-num-seqs={model.sequences}",
        f"--gpu-memory-utilization={model.memory_fraction}",
        f"--kv-cache-dtype={model.kv_precision}",
        "--enable-prefix-caching",
        *_blocks(model, routed=routed),
        *(["--enable-force-include-usage"] if counted else []),
        f"--scheduling-policy={'priority' if serving.priority else 'fcfs'}",
        f"--shutdown-timeout={DRAIN_S}",  # its default ends requests in flight at once
        "--disable-access-log-for-endpoints=/health,/metrics,/v1/models",
        *_parsers(model),
        *_adapters(model),
    ]


def environment(model: Model, hosts: int = 1) -> dict[str, str]:
    """Variables of the engine's process; everything that it writes goes to the model's volume."""
    return {
        "HOME": CACHE,
        "USER": "vllm",  # PyTorch asks for a name, and not every image knows one for the number
        "HF_HOME": f"{CACHE}/huggingface",
        "HF_HUB_OFFLINE": "1",  # weights are there before it starts
        "VLLM_CACHE_ROOT": f"{CACHE}/vllm",  # compiled kernels outlive the pod
        "TORCHINDUCTOR_CACHE_DIR": f"{CACHE}/inductor",
        "TRITON_CACHE_DIR": f"{CACHE}/triton",
        "VLLM_NO_USAGE_STATS": "1",
        "VLLM_HTTP_TIMEOUT_KEEP_ALIVE": str(KEEP_ALIVE_S),
        # As the probe's budget. While its engine loads, the pinned server waits without end (launch_core_engines); this
        # counts where it waits elsewhere, and the default of 600 s ended slow starts before (vllm#32116).
        "VLLM_ENGINE_READY_TIMEOUT_S": str(startup_s(model, hosts)),
    }


def _blocks(model: Model, *, routed: bool) -> list[str]:
    """Recurrent layers dictate the size themselves, and latent attention has kernels for one size each."""
    is_free = model.shape.recurrent is None and model.shape.latent is None
    return [f"--block-size={BLOCK_TOKENS}"] if routed and is_free else []


def _parsers(model: Model) -> list[str]:
    tools = ["--enable-auto-tool-choice", f"--tool-call-parser={model.tool_call_parser}"]
    reasoning = [f"--reasoning-parser={model.reasoning_parser}"]
    return (tools if model.tool_call_parser else []) + (reasoning if model.reasoning_parser else [])


def _adapters(model: Model) -> list[str]:
    if model.lora is None:
        return []
    served = [f"{adapter.name}={adapter_folder(adapter)}" for adapter in model.lora.adapters]
    return [
        "--enable-lora",
        f"--max-loras={len(served)}",
        f"--max-lora-rank={model.lora.rank}",
        "--lora-modules",
        *served,
    ]
