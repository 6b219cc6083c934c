"""Tracking: what is declared, and the real server with it, over a real PostgreSQL and a real object storage."""

import json
import os
import shutil
import signal
import socket
import subprocess
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from waiting import until

from components.base.component import namespace
from components.mlflow import STORES, arguments, database_uri, deployment, service, variables
from rackwright.sandbox.postgres import Server, home, programs
from rackwright.site.object_storage import ObjectStorage
from rackwright.site.postgresql import Database

DATABASE = Database(name="mlflow", owner="mlflow")
SERVER = {"host": "postgres-rw.postgres.svc", "port": 5432, "namespace_label": "rackwright/uses-postgres=true"}
STORE = ObjectStorage(endpoint="https://s3.lab.internal", bucket="rackwright")
MLFLOW = os.environ.get("RACKWRIGHT_MLFLOW")
RCLONE = os.environ.get("RACKWRIGHT_RCLONE") or shutil.which("rclone")
PASSWORD = "p@ss/w:rd"  # what must be written otherwise in an address


def test_a_password_may_hold_any_character():
    uri = database_uri(DATABASE, SERVER, PASSWORD)
    assert uri == "postgresql+psycopg2://mlflow:p%40ss%2Fw%3Ard@postgres-rw.postgres.svc:5432/mlflow?sslmode=require"


def test_what_opens_the_stores_is_read_from_a_secret_alone(catalog):
    pod = deployment("mlflow", STORE, image=catalog.images["mlflow"], version="x")["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["envFrom"] == [{"secretRef": {"name": STORES}}]
    assert not {each["name"] for each in container["env"]} & {"MLFLOW_BACKEND_STORE_URI", "AWS_SECRET_ACCESS_KEY"}


def test_the_api_server_takes_it_at_the_strictest_level(catalog, control_plane):
    control_plane.apply([namespace("mlflow-taken", "restricted", {"rackwright/uses-postgres": "true"})])
    made = deployment("mlflow", STORE, image=catalog.images["mlflow"], version="x")
    template = made["spec"]["template"]
    alone = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "alone"} | template["metadata"],
        "spec": template["spec"],
    }
    account = ("get", "serviceaccount", "default", "--namespace=mlflow-taken", "--ignore-not-found", "-o", "name")
    until(lambda: control_plane.kubectl(*account), "the account that admission asks for")
    bundle = json.dumps({"apiVersion": "v1", "kind": "List", "items": [made, service(), alone]})
    dry = ("create", "--validate=strict", "--dry-run=server", "--namespace=mlflow-taken", "-f", "-")
    assert control_plane.kubectl(*dry, given=bundle).count("created (server dry run)") == 3
    control_plane.kubectl.delete("namespace", "mlflow-taken")


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Reached(Server):
    """A server that is reached at a port as well."""

    @property
    def environment(self) -> dict[str, str]:
        return super().environment | {"PGPORT": self.settings["port"]}


@pytest.fixture(scope="module")
def stores(tmp_path_factory):
    """A real PostgreSQL with the database, and a folder behind S3."""
    if not MLFLOW or not RCLONE:
        pytest.skip(
            "NO MLFLOW: the server was not run. RACKWRIGHT_MLFLOW names its program, RACKWRIGHT_RCLONE rclone's"
        )
    with home() as place:
        folder = programs(place)
        if folder is None:
            pytest.skip("NO POSTGRESQL: MLflow was not run. RACKWRIGHT_POSTGRES names its bin folder")
        with both_stores(folder, place, tmp_path_factory.mktemp("objects")) as found:
            yield found


@contextmanager
def both_stores(folder, place, objects):
    at_database, at_storage = free_port(), free_port()
    database = Reached(folder, place, "runs", {"listen_addresses": "127.0.0.1", "port": str(at_database)})
    (objects / STORE.bucket).mkdir()
    serve = [RCLONE, "serve", "s3", "--auth-key", "key,secret", "--addr", f"127.0.0.1:{at_storage}", str(objects)]
    storage = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        database.make()
        database.start()
        quoted = PASSWORD.replace("'", "''")
        database.sql(f"CREATE ROLE mlflow LOGIN PASSWORD '{quoted}'")
        database.sql("CREATE DATABASE mlflow OWNER mlflow")
        yield database, at_database, at_storage, objects
    finally:
        storage.send_signal(signal.SIGTERM)
        storage.wait()


@pytest.fixture(scope="module")
def tracking(stores, tmp_path_factory):
    """The server as the component starts it, but for its address; the database has no certificate here."""
    _, at_database, at_storage, _ = stores
    port = free_port()
    storage = STORE.model_copy(update={"endpoint": f"http://127.0.0.1:{at_storage}"})
    told = arguments("mlflow", storage)
    told[told.index("--port") + 1] = str(port)
    told[told.index("--host") + 1] = "127.0.0.1"
    uri = database_uri(DATABASE, {"host": "127.0.0.1", "port": at_database}, PASSWORD)
    home = tmp_path_factory.mktemp("mlflow")
    environment = variables(storage) | {
        "HOME": str(home),
        "PATH": f"{Path(MLFLOW).parent}:{os.environ['PATH']}",
        "MLFLOW_BACKEND_STORE_URI": uri.replace("sslmode=require", "sslmode=disable"),
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
    }
    with (home / "log").open("w") as log:
        process = subprocess.Popen(
            [MLFLOW, "server", *told], env=environment, stdout=log, stderr=log, cwd=home, start_new_session=True
        )
    client = httpx.Client(base_url=f"http://127.0.0.1:{port}", headers={"Host": "mlflow.mlflow.svc:5000"}, timeout=300)

    def answers() -> bool:
        assert process.poll() is None, (home / "log").read_text()[-3000:]
        try:
            return client.get("/health", headers={"Host": "localhost:1"}).status_code == 200
        except httpx.TransportError:
            return False

    try:
        until(answers, "MLflow does not answer")
        yield client
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def test_a_run_is_kept_in_the_database(stores, tracking):
    database, *_ = stores
    made = tracking.post("/api/2.0/mlflow/experiments/create", json={"name": "first"})
    assert made.status_code == 200, made.text
    run = tracking.post("/api/2.0/mlflow/runs/create", json={"experiment_id": made.json()["experiment_id"]})
    number = run.json()["run"]["info"]["run_id"]
    said = {"run_id": number, "key": "loss", "value": 0.5, "timestamp": 1, "step": 1}
    assert tracking.post("/api/2.0/mlflow/runs/log-metric", json=said).status_code == 200
    words = f"SELECT value FROM metrics WHERE run_uuid = '{number}'"
    assert database.run("psql", "-XAtq", "-d", "mlflow", "-c", words).stdout.strip() == "0.5"


def test_what_a_run_leaves_lies_in_the_store_and_its_job_has_no_key(stores, tracking):
    *_, objects = stores
    path = "/api/2.0/mlflow-artifacts/artifacts/1/run/artifacts/model.bin"
    put = tracking.put(path, content=b"weights")
    assert put.status_code == 200, put.text
    assert tracking.get(path).content == b"weights"
    (found,) = objects.rglob("model.bin")
    assert found.relative_to(objects).parts[:2] == (STORE.bucket, "mlflow")
    assert found.read_bytes() == b"weights"


def test_whoever_calls_it_by_another_name_is_refused(tracking):
    for host in ("evil.example", "10.44.0.7:5000"):
        assert tracking.get("/api/2.0/mlflow/experiments/search", headers={"Host": host}).status_code == 403
