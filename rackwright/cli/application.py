"""The commands by name."""

import typer

from rackwright.cli import (
    bench,
    check,
    env,
    node,
    observe,
    plan,
    preflight,
    provision,
    rehearse,
    reset,
    rollout,
    schema,
    secrets,
    tools,
    upgrade,
    validate,
)

EPILOG = "Exit codes: 0 done, 1 the site or the cluster says no, 2 wrong usage, 130 stopped."

application = typer.Typer(
    help="From a rack of GPU servers to an inference platform.",
    epilog=EPILOG,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["--help", "-h"]},
)
for command in (
    validate.validate,
    schema.schema,
    env.env,
    preflight.preflight,
    provision.provision,
    reset.reset,
    rehearse.rehearse,
    check.check,
    tools.tools,
    bench.bench,
    observe.advise,
):
    application.command()(command)
application.command(name="baseline")(observe.record)
application.add_typer(plan.application, name="plan")
application.add_typer(node.application, name="node")
application.add_typer(upgrade.application, name="upgrade")
application.add_typer(rollout.application, name="rollout")
application.add_typer(secrets.application, name="secrets")
