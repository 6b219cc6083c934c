"""PostgreSQL: one server, and a database with an owner of its own for every application."""

from components.postgres.component import Postgres

__all__ = ["Postgres"]
