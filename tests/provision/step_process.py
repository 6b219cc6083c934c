"""One act of a rollout's step on machines, in a process that can be killed; what is wanted is its input, as JSON.

Who starts it in a rack's namespace lets Ansible reach guests at the site's own addresses. Each task is a line as it
begins, and the last line is what came of it, as JSON.
"""

import json
import sys
from pathlib import Path

from rackwright import playbook
from rackwright.rollout.gates import Reading
from rackwright.rollout.lock import held
from rackwright.rollout.platform.clusters import Nodes
from rackwright.rollout.platform.machines import Cleaned, Founded, Playbooks, Provision, Ready
from rackwright.rollout.way import names, way
from rackwright.rollout.world import Found
from rackwright.site.site import Site


def carry_out(site, step, act, told):
    """Under the rollout's lock, as the command does; `told` is what guests need besides what the step says."""
    runs = []

    def run(name, folder, variables, **more):
        runs.append(playbook.run(name, folder, {**told, **variables}, **more))
        return runs[-1]

    found = way(Site.load(site))
    playbooks = Playbooks(site, say, run)
    steps = {
        "provision": Provision(found, playbooks),
        "found": Founded(found, playbooks, Nodes(Path(found.site.clusters.phase2.kubeconfig), "kubectl")),
        "clean": Cleaned(found, playbooks),
        "new hosts": Ready(playbooks, names(found.new)),
        "joining hosts": Ready(playbooks, names(found.joining)),
    }
    with held(site):
        came = getattr(steps[step], act)()
    return words(came) | {"changes": {name: each.changes for name, each in runs[-1].hosts.items()}}


def say(line):
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def words(came):
    if isinstance(came, Found):
        return {"state": came.state.name, "words": came.words}
    return {"passed": came.passed, "words": came.seen} if isinstance(came, Reading) else {}


if __name__ == "__main__":
    wanted = json.load(sys.stdin)
    say(json.dumps(carry_out(Path(wanted.pop("site")), **wanted)))
