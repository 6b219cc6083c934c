"""How weights come to a model's volume: containers that run before the engine, one way for each kind of source."""

import hashlib
import json
from pathlib import Path
from typing import Any

from rackwright.site.catalog import Image
from rackwright.site.models import Model
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.serving import Adapter
from rackwright.site.sources import S3, Hub, Local, Nfs

HERE = Path(__file__).parent
VOLUME = "/models"
CACHE = f"{VOLUME}/cache"
NFS = "/source"
TEMPORARY = "/tmp"  # noqa: S108 - a volume of the pod's own
OBJECT_STORAGE = "object-storage"  # the Secret with the store's keys
# NVIDIA's is the default runtime of k3s here, and gives every GPU of the host to whoever does not ask for any: the
# engine's image says "all". Where GPUs are asked for, the device plugin says which.
NO_GPU = {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}
Container = dict[str, Any]


def origins(model: Model) -> list[str]:
    """Where the pod itself fetches from: hub, s3; NFS is mounted by the host, and a local folder is there."""
    found = {"hub": bool(_from_hub(model)), "s3": isinstance(model.source, S3)}
    return [kind for kind, wanted in found.items() if wanted]


def model_folder(model: Model) -> str:
    """Where the weights lie; another source or revision lies elsewhere, so that an update never overwrites."""
    if isinstance(model.source, Local):
        return f"{VOLUME}/{model.source.local}"
    where = model.source.model_dump_json(exclude={"token"})
    return f"{VOLUME}/weights/{hashlib.sha256(where.encode()).hexdigest()[:12]}"


def adapter_folder(adapter: Adapter) -> str:
    """Where an adapter lies."""
    return f"{VOLUME}/adapters/{adapter.name}/{adapter.revision[:12]}"


def hub_secret(token: str) -> str:
    """The Secret that holds a hub token."""
    return f"hub-{token.replace('_', '-')}"


def containers(
    model: Model, *, engine: Image, rclone: Image, object_storage: ObjectStorage | None = None
) -> list[Container]:
    """Bring the weights and look whether they are whole."""
    source = model.source
    steps: list[Container] = []
    if isinstance(source, S3):
        if object_storage is None:
            raise ValueError(f"{model.name} comes from object storage, which the site does not have")
        remote = f"site:{object_storage.bucket}/{source.s3}"
        steps.append(_copy(model, remote, rclone) | {"env": _object_storage(object_storage)})
    elif isinstance(source, Nfs):
        copy = _copy(model, NFS, rclone)
        steps.append(copy | {"volumeMounts": [*copy["volumeMounts"], {"name": "source", "mountPath": NFS}]})
    if wanted := _from_hub(model):
        steps.append(_download(source, wanted, engine))
    return [_without_gpus(step) for step in (*steps, _check(model, engine))]


def _from_hub(model: Model) -> list[dict[str, str]]:
    wanted = []
    if isinstance(model.source, Hub):
        wanted.append((model.source.hub, model.source.revision, model_folder(model)))
    for adapter in model.lora.adapters if model.lora else ():
        wanted.append((adapter.hub, adapter.revision, adapter_folder(adapter)))
    return [dict(zip(("repository", "revision", "folder"), each, strict=True)) for each in wanted]


def _download(source: Any, wanted: list[dict[str, str]], engine: Image) -> Container:
    script = (HERE / "hub_weights.py").read_text()
    variables: list[dict[str, Any]] = [
        {"name": "HOME", "value": CACHE},
        {"name": "HF_HOME", "value": f"{CACHE}/huggingface"},
        {"name": "HF_HUB_DISABLE_TELEMETRY", "value": "1"},
    ]
    if isinstance(source, Hub) and source.token:
        reference = {"name": hub_secret(source.token), "key": "token"}
        variables.append({"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": reference}})
    arguments = ["python3", "-c", script, VOLUME, json.dumps(wanted)]
    return _container("download", engine, arguments, memory="8Gi") | {"env": variables}


def _copy(model: Model, remote: str, rclone: Image) -> Container:
    script = (HERE / "copy_weights.sh").read_text()
    arguments = ["sh", "-c", script, "sh", VOLUME, remote, model_folder(model)]
    without_file = [{"name": "RCLONE_CONFIG", "value": "/notfound"}]  # rclone's word for a configuration in memory
    return _container("copy", rclone, arguments, memory="2Gi") | {"env": without_file}


def _check(model: Model, engine: Image) -> Container:
    script = (HERE / "check_weights.py").read_text()
    adapters = [adapter_folder(adapter) for adapter in model.lora.adapters] if model.lora else []
    waits = ["--wait"] if isinstance(model.source, Local) else []  # for who brings them by hand
    return _container("check", engine, ["python3", "-c", script, *waits, model_folder(model), *adapters], memory="1Gi")


def _without_gpus(container: Container) -> Container:
    return container | {"env": [NO_GPU, *container.get("env", [])]}


def _object_storage(store: ObjectStorage) -> list[dict[str, Any]]:
    plain = {"TYPE": "s3", "PROVIDER": "Other", "ENDPOINT": store.endpoint, "REGION": store.region}
    secret = {"ACCESS_KEY_ID": "access-key", "SECRET_ACCESS_KEY": "secret-key"}
    return [
        {"name": "RCLONE_CONFIG", "value": "/notfound"},
        *({"name": f"RCLONE_CONFIG_SITE_{name}", "value": value} for name, value in plain.items()),
        *(
            {
                "name": f"RCLONE_CONFIG_SITE_{name}",
                "valueFrom": {"secretKeyRef": {"name": OBJECT_STORAGE, "key": key}},
            }
            for name, key in secret.items()
        ),
    ]


def _container(name: str, image: Image, command: list[str], *, memory: str) -> Container:
    return {
        "name": name,
        "image": image.reference,
        "command": command,
        "resources": {"requests": {"cpu": "1", "memory": memory}, "limits": {"memory": memory}},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "models", "mountPath": VOLUME}, {"name": "temporary", "mountPath": TEMPORARY}],
    }
