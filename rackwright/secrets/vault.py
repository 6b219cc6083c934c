"""The vault beside a site: one file that ansible-vault encrypted whole, which Ansible and Python both open."""

import fcntl
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import yaml

from rackwright.command_line import command_line
from rackwright.errors import Refusal
from rackwright.secrets import cipher, private_file
from rackwright.secrets.required import Secret
from rackwright.user_path import user_path

FILE_NAME = Path("group_vars", "all", "secrets.yml")
PASSWORD_NAME = ".vault-password"  # noqa: S105 - the name of a file
PASSWORD_VARIABLE = "ANSIBLE_VAULT_PASSWORD_FILE"  # noqa: S105 - the name of a variable
LARGEST_BYTES = 2**20


@dataclass(frozen=True)
class Vault:
    """Where a site's secrets lie and where the password is; it holds no secret itself."""

    file: Path
    password_file: Path

    @classmethod
    def of(cls, place: Path) -> Self:
        """The vault of a site's folder (or of the folder of its site.yml); nothing is read yet."""
        folder = place.parent if place.is_file() else place
        named = os.environ.get(PASSWORD_VARIABLE)
        password_file = user_path(os.path.expandvars(named)) if named else folder / PASSWORD_NAME
        return cls(folder / FILE_NAME, password_file)

    @property
    def edit(self) -> str:
        """The command that opens the vault in an editor."""
        return command_line("ansible-vault", "edit", "--vault-password-file", self.password_file, self.file)

    @property
    def make(self) -> str:
        """The command that makes the vault, or adds what is missing to it."""
        return command_line("rackwright", "secrets", "init", self.file.parents[2])

    def exists(self) -> bool:
        """Whether there is a vault; raises Refusal where that cannot be seen."""
        try:
            self.file.stat()
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise self._unreadable(error) from None
        return True

    def read(self) -> dict[str, str]:
        """Every secret by name; raises Refusal where the vault or its password is missing, wrong or damaged."""
        text = self._ciphertext()
        return _values(self.file, cipher.decrypt(self.file, text, self.password_file))

    def write(self, values: Mapping[str, str], secrets: Iterable[Secret] = ()) -> None:
        """Encrypt and replace the file at once or not at all; purposes of secrets become comments above them."""
        purposes = {secret.name: secret.purpose for secret in secrets}
        lines = [_line(name, value, purposes.get(name)) for name, value in values.items()]
        private_file.write(self.file, cipher.encrypt("".join(lines), self.password_file))

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Keep other writers out; what is read inside is still so when it is written."""
        with private_file.refusing(self.file):
            self.file.parent.mkdir(parents=True, exist_ok=True)
            folder = os.open(self.file.parent, os.O_RDONLY)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)

    def _ciphertext(self) -> bytes:
        try:
            if not stat.S_ISREG(self.file.stat().st_mode):  # a pipe would be waited for, a device read without end
                raise Refusal(f"{self.file} cannot be read (no regular file).", f"Move it away, then run {self.make}")
            with self.file.open("rb") as file:
                text = file.read(LARGEST_BYTES + 1)
        except FileNotFoundError:
            raise Refusal(f"{self.file} is not there: the site has no vault yet.", f"{self.make} makes it.") from None
        except OSError as error:
            raise self._unreadable(error) from None
        if len(text) > LARGEST_BYTES:
            raise Refusal(f"{self.file} is larger than 1 MiB.", "Look whether this is the right file.")
        return text

    def _unreadable(self, error: OSError) -> Refusal:
        return Refusal(
            f"{self.file} cannot be read ({error.strerror}).", "Mend its owner, its mode, or the links to it."
        )


def open_vault(place: Path) -> dict[str, str]:
    """Every secret of the vault of a site's folder, by name."""
    return Vault.of(place).read()


def _line(name: str, value: str, purpose: str | None) -> str:
    comment = f"# {purpose}\n" if purpose else ""
    return f"{comment}{name}: {json.dumps(value)}\n"


def _values(file: Path, text: str) -> dict[str, str]:
    """Names and values of a decrypted vault; errors tell lines and names, never what stands there."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise _unreadable(file, f"line {line} is not YAML") from None
    except yaml.YAMLError:
        raise _unreadable(file, "it is not YAML") from None
    if node is None:
        return {}
    if not isinstance(node, yaml.MappingNode):
        raise _unreadable(file, "it is not a list of `name: value`")
    values: dict[str, str] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise _unreadable(file, f"line {line} has no name")
        if not isinstance(value, yaml.ScalarNode) or value.tag != "tag:yaml.org,2002:str":
            raise _unreadable(file, f"the value of {key.value} is not a text in quotation marks")
        if key.value in values:
            raise _unreadable(file, f"{key.value} stands twice")
        values[key.value] = value.value
    return values


def _unreadable(file: Path, reason: str) -> Refusal:
    return Refusal(f"{file} opens, but inside {reason}.", f"Mend it: {Vault.of(file.parents[2]).edit}")
