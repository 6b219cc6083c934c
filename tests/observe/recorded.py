"""Recorded series of one model whose answer is known; a step is 15 s."""

from rackwright.observe.series import Series

STEP = 15.0
STEPS = 160  # 40 minutes


def recorded(steps=STEPS, model="llama-70b", **figures):
    """Figures of a model that does well, but for those that are given: a number, or a function of the step."""
    healthy = {
        "queue": 0.0,
        "running": 8.0,
        "kv_usage": 0.4,
        "gpu_utilisation": 0.5,
        "ttft_p50": 0.2,
        "ttft_p95": 0.4,
        "ttft_p99": 0.6,
        "ttft_usual": 0.4,
        "tpot_p50": 0.018,
        "tpot_p95": 0.02,
        "tpot_p99": 0.025,
        "hit_rate": 0.7,
        "hit_rate_usual": 0.7,
        "calls": 0.5,
        "prompt_mean": 4000.0,
        "output_mean": 400.0,
        "replicas": 1.0,
    }
    values = {
        f"model:{name}": {model: tuple(value(step) if callable(value) else value for step in range(steps))}
        for name, value in (healthy | figures).items()
    }
    return Series(start=0, step_s=STEP, figures=values)


def ramp(begins, ends, steps=STEPS):
    """From one value to another, evenly."""
    return lambda step: begins + (ends - begins) * step / (steps - 1)


def at_step(first, last, value, before):
    """Another value for some steps."""
    return lambda step: value if first <= step <= last else before
