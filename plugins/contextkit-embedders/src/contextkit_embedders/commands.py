"""Command `contextkit models`: get embedding models.

Only this needs a network.
"""

from __future__ import annotations

import json
from pathlib import Path

import click

from contextkit.cli import Session, json_option, pass_session


@click.group(
    epilog="""\b
Example:
  contextkit models pull BAAI/bge-small-en-v1.5 ~/models/bge-small
"""
)
def models() -> None:
    """Download embedding models."""


@models.command(
    epilog="""\b
Example:
  contextkit models pull BAAI/bge-small-en-v1.5 ~/models/bge-small
"""
)
@click.argument("name")
@click.argument("folder", type=click.Path(path_type=Path))
@json_option
@pass_session
def pull(session: Session, /, as_json: bool, name: str, folder: Path) -> None:
    """Download the model NAME into the new FOLDER.

    NAME is the name that fastembed uses. No other command downloads a model. The last line is the
    setting to use it.
    """
    from contextkit_embedders.pulling import pull as pull_model

    model = f"fastembed:{pull_model(name, folder)}"
    # A JSON string is also a TOML string.
    setting = f"[embedding]\nmodel = {json.dumps(model, ensure_ascii=False)}"
    session.emit({"model": model}, f"set in your config.toml:\n\n{setting}", as_json)
