"""What phase 2 keeps of training's runs and of what was asked, where the site wants that: MLflow and Langfuse."""

from collections.abc import Iterator

from components.langfuse import Langfuse
from components.mlflow import Mlflow
from rackwright.site.postgresql import Database
from stacks.foundation import Foundation
from stacks.given import Given


def tracking(given: Given, ground: Foundation) -> Iterator[Mlflow]:
    """MLflow; rules of the site's see that there is object storage, and its database."""
    storage, postgres = given.site.object_storage, ground.postgres
    if given.site.training and given.site.training.tracking and storage:
        yield Mlflow(
            "mlflow", _database(given, "mlflow"), image=given.catalog.images["mlflow"], object_storage=storage,
            server=postgres.reached, server_in=postgres.name, secrets=given.secrets, callers=["training"],
            after=[postgres], opts=given.options,
        )  # fmt: skip


def traces(given: Given, ground: Foundation) -> Iterator[Langfuse]:
    """Langfuse; the same rules."""
    storage, postgres = given.site.object_storage, ground.postgres
    if given.site.langfuse and storage:
        yield Langfuse(
            "langfuse", given.site.langfuse, _database(given, "langfuse"), chart=given.charts["langfuse"],
            images=given.catalog.images, object_storage=storage, server=postgres.reached, server_in=postgres.name,
            secrets=given.secrets, after=[postgres], **ground.kept, opts=given.options,
        )  # fmt: skip


def _database(given: Given, name: str) -> Database:
    return next(database for database in given.site.postgresql.databases if database.name == name)
