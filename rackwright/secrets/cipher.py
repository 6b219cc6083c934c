"""Encrypts and decrypts as ansible-vault does, through Ansible's own code."""

import binascii
import os
import stat
from pathlib import Path
from typing import Any

from rackwright.command_line import command_line
from rackwright.errors import Refusal

HEADER = b"$ANSIBLE_VAULT;"
DIGEST_LENGTH = 64  # hexadecimal digits of an HMAC-SHA256
BLOCK_BYTES = 16  # AES pads to it


def encrypt(text: str, password_file: Path) -> bytes:
    """A vault of a text."""
    return bytes(_opener(password_file).encrypt(text))


def decrypt(file: Path, ciphertext: bytes, password_file: Path) -> str:
    """The text of a vault; raises Refusal where it is none, is damaged, or the password is another."""
    if not ciphertext.startswith(HEADER):
        raise _not_a_vault(file, ciphertext, password_file)
    if _is_damaged(ciphertext):
        raise _damaged(file)
    opener = _opener(password_file)
    try:
        return bytes(opener.decrypt(ciphertext)).decode()
    except UnicodeDecodeError:
        raise _damaged(file) from None
    except _ansible().errors.AnsibleError:
        raise Refusal(
            f"{file} does not open with the password of {password_file}: it was made with another, or was changed.",
            "Put the right password there, or point ANSIBLE_VAULT_PASSWORD_FILE at it; if it is the right one, restore "
            "the vault from your copy.",
        ) from None


def password(file: Path) -> bytes:
    """The vault's password, from a file or from what an executable one prints, as Ansible reads it."""
    ansible = _ansible()
    try:
        mode = file.stat().st_mode
    except FileNotFoundError:
        raise Refusal(
            f"There is no password for the vault: {file} is not there.",
            "Bring it back from where you keep it, or point ANSIBLE_VAULT_PASSWORD_FILE at it.",
        ) from None
    except OSError as error:
        raise Refusal(f"{file} cannot be read ({error.strerror}).", "Mend its owner and mode.") from None
    _refuse_unfit(file, mode)
    try:
        found = ansible.parsing.vault.get_file_vault_secret(
            filename=str(file), vault_id="default", loader=ansible.parsing.dataloader.DataLoader()
        )
        found.load()
    except ansible.errors.AnsibleError:
        raise Refusal(*_no_password(file, mode)) from None
    return bytes(found.bytes)


def _ansible() -> Any:
    try:
        import ansible.errors  # noqa: PLC0415 - it takes 0.3 s, which only those wait for who open a vault
        import ansible.parsing.dataloader  # noqa: PLC0415
        import ansible.parsing.vault  # noqa: PLC0415
    except Exception as error:  # noqa: BLE001 - it reads the user's ansible.cfg meanwhile, and raises what it likes
        raise Refusal(
            f"Ansible, which opens the vault, does not start: {' '.join(str(error).split()).rstrip('.')}.",
            "Mend its settings: ansible.cfg here, ~/.ansible.cfg, and the variables that `env | grep ANSIBLE` shows.",
        ) from None
    return ansible


def _opener(password_file: Path) -> Any:
    vault = _ansible().parsing.vault
    return vault.VaultLib([("default", vault.VaultSecret(password(password_file)))])


def _no_password(file: Path, mode: int) -> tuple[str, str]:
    if mode & stat.S_IXUSR:
        return (
            f"{file} is executable, but running it gave no vault password.",
            f"Make it a script that prints the password and ends with 0, or, if it is plain text, {_own(file)}",
        )
    return f"{file} gives no vault password (it is empty, or cannot be read).", "Put the password there, on one line."


def _refuse_unfit(file: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):  # a pipe would be waited for, a device read without end
        raise Refusal(f"{file} is to hold the vault's password, and is no regular file.", "Put the password in a file.")
    if mode & stat.S_IXUSR:
        if mode & (stat.S_IWGRP | stat.S_IWOTH):
            what = f"{file} is a password script that others may change."
            raise Refusal(what, command_line("chmod", "go-w", file))
    elif mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Refusal(f"{file} holds the vault's password, and others may read it.", _own(file))
    elif not os.access(file, os.R_OK):
        raise Refusal(f"{file} holds the vault's password, and you may not read it.", _own(file))


def _own(file: Path) -> str:
    """What makes a file readable for its owner alone."""
    return command_line("chmod", "600", file)


def _is_damaged(ciphertext: bytes) -> bool:
    """True where a part is missing, so that no password could open it."""
    try:
        _, digest, payload = binascii.unhexlify(b"".join(ciphertext.splitlines()[1:])).split(b"\n", 2)
        return len(digest) != DIGEST_LENGTH or not payload or len(binascii.unhexlify(payload)) % BLOCK_BYTES > 0
    except ValueError:
        return True


def _damaged(file: Path) -> Refusal:
    return Refusal(f"{file} is damaged: a part of it is missing.", "Restore it from your copy of it.")


def _not_a_vault(file: Path, text: bytes, password_file: Path) -> Refusal:
    if not text.strip():
        make = command_line("rackwright", "secrets", "init", file.parents[2])
        return Refusal(f"{file} is empty.", f"Restore it from your copy, or remove it and run {make}")
    with_password = ("--vault-password-file", password_file) if password_file.exists() else ()
    encrypt = command_line("ansible-vault", "encrypt", *with_password, file)
    return Refusal(
        f"{file} is not a vault: what is in it lies there in clear.",
        f"Run {encrypt} and replace secrets that others may have seen.",
    )
