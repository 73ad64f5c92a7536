"""The configuration of a NATS container from variables: `python -m cortex_infra.nats_container <file>`.

Every user of the contracts has its password in `CORTEX_NATS_<USER>_PASSWORD`; the outside publisher of `CORTEX_ORG` has
`CORTEX_NATS_PUBLISHER_PASSWORD`. The streams are kept in `CORTEX_NATS_STORE` (`/data`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from cortex_contracts.permissions import USERS, publisher_user
from cortex_infra.errors import InfraError, SettingError
from cortex_infra.home import write_private
from cortex_infra.natsconf import NatsSettings, render

PORT: Final = 4222
STORE: Final = "/data"
PUBLISHER_PASSWORD: Final = "CORTEX_NATS_PUBLISHER_PASSWORD"  # noqa: S105 - the name of a variable


def password_variable(user: str) -> str:
    """The variable with the password of a user of the contracts."""
    return f"CORTEX_NATS_{user.upper()}_PASSWORD"


def configuration(environment: Mapping[str, str]) -> str:
    """The file as text.

    Raises:
        SettingError: a password is missing; the message names the variables.
    """
    org = environment.get("CORTEX_ORG") or "local"
    variables = {user: password_variable(user) for user in USERS}
    try:
        variables[publisher_user(org)] = PUBLISHER_PASSWORD
    except ValueError as error:
        raise SettingError(f"CORTEX_ORG: {error}") from None
    missing = [variable for variable in variables.values() if not environment.get(variable)]
    if missing:
        raise SettingError(f"not set: {', '.join(missing)}")
    return render(
        NatsSettings(
            host="0.0.0.0",  # noqa: S104 - a container is reached through its network only
            port=PORT,
            store=Path(environment.get("CORTEX_NATS_STORE") or STORE),
            passwords={user: environment[variable] for user, variable in variables.items()},
            publishers=(org,),
        )
    )


def main(arguments: list[str], environment: Mapping[str, str] = os.environ) -> int:
    """Write the file; returns the exit status."""
    if len(arguments) != 1:
        print("usage: python -m cortex_infra.nats_container <file>", file=sys.stderr)
        return 2
    try:
        write_private(Path(arguments[0]), configuration(environment))
    except (InfraError, OSError) as error:
        print(f"cortex: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
