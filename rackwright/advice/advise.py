"""Everything to be said about a site's phase, from its figures."""

from rackwright.advice.advice import Advice, Rests
from rackwright.advice.of_model import of_model
from rackwright.advice.seen import Seen, spell
from rackwright.errors import Refusal
from rackwright.observe.baseline import Baseline
from rackwright.observe.figures import FIGURES
from rackwright.observe.judge import Fired, judge
from rackwright.observe.limits import limits
from rackwright.observe.series import Series
from rackwright.observe.triggers import figures_of
from rackwright.site.hosts import Phase
from rackwright.site.site import Site

STORES = ("store", "database", "host", "volume")


def advise(site: Site, phase: Phase, series: Series, baseline: Baseline | None = None) -> list[Advice]:
    """Advice about each model, then about stores, drives and volumes."""
    if not series.figures:
        raise Refusal(
            "No figure of the site was seen.", "See whether that Prometheus watches this site: `rackwright check`."
        )
    fired = judge(series, limits(site, phase, baseline))
    said: list[Advice] = []
    for model, serving in site.models_in(phase):
        if serving.replicas:
            of_it = [each for each in fired if each.trigger.level == "model" and each.subject == model.name]
            said += of_model(site, phase, model, serving, Seen(model.name, series, model.context_length), of_it)
    said += [_of_store(each, series) for each in fired if each.trigger.level in STORES and each.lasts]
    return said


def _of_store(fired: Fired, series: Series) -> Advice:
    rests = []
    for name in figures_of(fired.trigger.condition):
        figure, value = FIGURES[name], series.last(name, fired.subject)
        rests.append(Rests(figure.title, "not seen" if value is None else spell(value, figure.unit), figure.record))
    minutes = (series.steps * series.step_s - fired.first_s) / 60
    why = f"{fired.trigger.name} has held for {minutes:.0f} minutes."
    return Advice(fired.subject, "mend", fired.trigger.action, why, tuple(rests))
