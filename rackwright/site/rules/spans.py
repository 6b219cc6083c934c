"""A model of which a replica takes several hosts: what they must have in common, and who lays it."""

from collections.abc import Iterator

from rackwright.site.gpu_resources import offered, requested
from rackwright.site.halves import Group
from rackwright.site.lws_names import leader
from rackwright.site.models import Model
from rackwright.site.reading.faults import Place
from rackwright.site.reading.judge import Broken
from rackwright.site.reading.nearest import listed
from rackwright.site.rules.serving import NAME_OF_A_SET
from rackwright.site.site import Site
from rackwright.site.spans import handing_on, hosts_with_room, products, spanning


def parts_fill_their_hosts(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """Two parts on one host would go with it, be they of two replicas or of one; and a drain would wait for itself."""
    for group in _of(model, site):
        gpus, wanted = group.part.gpus, requested(model, site.gpu)
        for host in hosts_with_room(site, group):
            room = offered(host.gpus, site.gpu)[wanted] if host.gpus else 0
            if room >= 2 * gpus:
                yield Broken(
                    (*place, "pipeline_parallel"),
                    f"is {model.pipeline_parallel}, which takes {gpus} GPUs of each of {group.hosts} hosts, and "
                    f"{host.name} has {room}: two of these parts find room there, and go with it",
                    f"write a multiple of {room // model.tensor_parallel}, or let hosts of fewer GPUs serve",
                )
                return


def parts_stand_on_one_product(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """Every stage waits for the slowest, and each keeps as many blocks of cache as the smallest."""
    for group in _of(model, site):
        found = products(hosts_with_room(site, group))
        if len(found) > 1:
            said = listed(f"{host} {product}" for product, host in found.items())
            yield Broken(
                (*place, "pipeline_parallel"),
                f"is {model.pipeline_parallel}, over {group.hosts} hosts, and its parts may stand on GPUs of several "
                f"products ({said}), of which the slowest holds up all",
                f"let hosts of one product alone serve, or write at most {model.pipeline_parallel // group.hosts}",
            )


def parts_hand_on_as_fast_as_they_compute(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """Where a prompt takes longer to the next host than through the layers of one, GPUs wait for the network."""
    for group in _of(model, site):
        found = handing_on(site, group)
        if found.handed_on_per_s < found.computed_per_s:
            way = "over RDMA" if found.by_rdma else "over the pods' network"
            yield Broken(
                (*place, "pipeline_parallel"),
                f"is {model.pipeline_parallel}, over {group.hosts} hosts, which compute {found.computed_per_s:,.0f} "
                f"tokens of a prompt in a second and hand on {found.handed_on_per_s:,.0f} {way} ({found.gbps} Gbit/s)",
                "give the hosts that serve faster ports on networks.storage, or take a smaller precision and fewer "
                "stages",
            )


def spanning_models_are_our_own(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """KServe would lay its own set of pods over several hosts, after templates of its own."""
    for group in _of(model, site):
        if model.phase2.through != "llm_d":
            yield Broken(
                (*place, "phase2", "through"),
                f"is {model.phase2.through}, and a replica takes {model.gpus} GPUs of {group.hosts} hosts",
                f"take it out, or write pipeline_parallel: {model.pipeline_parallel // group.hosts}",
            )


def names_of_spanning_models_are_free(models: tuple[Model, ...], site: Site) -> Iterator[Broken]:
    """Beside each pod that leads stand a Service and a StatefulSet of its name."""
    made = {leader(each.model.name, n): each for each in spanning(site) for n in range(each.serving.replicas)}
    for index, model in enumerate(models):
        if model.name in made:
            yield Broken(
                ("models", index, "name"),
                f"is {model.name}, as is what leads a replica of {made[model.name].model.name}, which takes "
                f"{made[model.name].hosts} hosts",
                "give it another name",
            )


def names_of_spanning_models_name_their_pods(model: Model, place: Place, site: Site) -> Iterator[Broken]:
    """The pods that follow are of a StatefulSet whose name has the replica's number at its end."""
    for group in _of(model, site):
        longest = leader(model.name, group.serving.replicas - 1)
        if len(longest) > NAME_OF_A_SET:
            most = NAME_OF_A_SET - len(longest) + len(model.name)
            yield Broken(
                (*place, "name"),
                f"has {len(model.name)} characters, and what follows a pod that leads is called {longest!r}, "
                f"{len(longest)}; the name of a StatefulSet has room for {NAME_OF_A_SET}",
                f"write a name of at most {most}",
            )


def _of(model: Model, site: Site) -> list[Group]:
    """The model's replicas in phase 2, where each takes several hosts."""
    if 2 not in site.phases or not model.phase2.replicas or model.pipeline_parallel == 1:
        return []
    return [each for each in spanning(site) if each.model.name == model.name]
