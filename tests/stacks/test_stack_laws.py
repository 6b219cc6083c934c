"""What holds of whatever a stack registers, in both phases: names, secrets, namespaces, pins."""

from google.protobuf import json_format

from rackwright.site.catalog import Catalog

SECRET = "4dabf18193072939515e22adb298388d"  # Pulumi's own mark of a special value on the wire


def parent_name(resource) -> str:
    return resource.parent.rsplit("::", maxsplit=1)[-1]


def walk(value, path=()):
    """Every text outside a value that is marked secret."""
    if isinstance(value, dict):
        if SECRET in value:
            return
        for key, each in value.items():
            yield from walk(each, (*path, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from walk(each, (*path, index))
    elif isinstance(value, str):
        yield path, value


def test_everything_is_a_component_s_child_and_named_for_it(laid):
    for each in laid.resources:
        if each.type.startswith(("rackwright:", "pulumi:")):
            continue
        if each.parent and "rackwright:components:" in each.parent:
            assert each.name.startswith(f"{parent_name(each)}/"), each.name
        else:
            assert each.name == "mark"


def test_no_secret_is_registered_in_clear(laid):
    registered = laid
    seen = 0
    for each in registered.resources:
        raw = json_format.MessageToDict(each.object)
        seen += str(raw).count("canary-")
        shown = [path for path, text in walk(raw) if "canary-" in text]
        assert not shown, f"{each.name}: {shown}"
    assert seen, "the canaries are not even where they belong"
    assert "canary-" not in str(registered.outputs)


def test_every_namespace_is_ours_shut_and_held_to_a_level(laid):
    resources = laid.resources
    namespaces = [json_format.MessageToDict(each.object) for each in resources if each.type.endswith(":Namespace")]
    shut = {
        json_format.MessageToDict(each.object)["metadata"]["namespace"]
        for each in resources
        if each.type.endswith(":NetworkPolicy")
        and not json_format.MessageToDict(each.object)["spec"].get("podSelector")
        and set(json_format.MessageToDict(each.object)["spec"]["policyTypes"]) == {"Ingress", "Egress"}
    }
    levels = {}
    for namespace in namespaces:
        labels = namespace["metadata"]["labels"]
        assert labels["app.kubernetes.io/part-of"] == "rackwright"
        levels[namespace["metadata"]["name"]] = labels["pod-security.kubernetes.io/enforce"]
    assert set(levels) == shut
    privileged = {name for name, level in levels.items() if level == "privileged"}
    assert privileged - {"rdma"} == {"gpu-operator", "monitoring", "storage"}  # that one where the site needs it
    # Images of frameworks run as root.
    assert {name for name, level in levels.items() if level == "baseline"} <= {"training"}


def test_no_custom_resource_has_an_empty_map(laid):
    """It would differ for ever from what the API server keeps."""

    def empty(value, path=()):
        if value == {} and path[-1] not in {"selfSigned", "status"}:  # seen not to differ
            yield path
        inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
        for key, each in inside:
            yield from empty(each, (*path, key))

    for each in laid.resources:
        if not each.type.startswith(("kubernetes:helm", "rackwright", "pulumi", "kubernetes:networking")):
            assert not list(empty(json_format.MessageToDict(each.object))), each.name


def test_a_chart_is_held_against_definitions_unless_it_renews_them_itself(laid):
    """Helm looks before it runs the job that brings new ones, and would refuse every field that is new."""
    releases = {each.name: json_format.MessageToDict(each.object) for each in laid.resources if ":Release" in each.type}
    unseen = [name for name, release in releases.items() if release.get("disableOpenapiValidation")]
    assert unseen == ["gpu-operator/gpu-operator"]


def test_every_chart_and_image_is_the_catalog_s(laid):
    catalog = Catalog.load()
    for each in laid.resources:
        if ":Release" in each.type:
            release = json_format.MessageToDict(each.object)
            folder, _, name = release["chart"].rpartition("/")
            pin = catalog.charts[name]
            assert release["version"] == pin.version
            assert (folder or release["repositoryOpts"]["repo"]) == pin.repository
