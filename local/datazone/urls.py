"""Where DataZone is found, in the words moto looks for."""

from local.datazone.wire import dispatch

# The last one is what moto's server calls a service whose name it found in a signature.
url_bases = [r"https?://datazone\.(.+)\.api\.aws", r"https?://datazone\.(.+)\.amazonaws\.com"]

url_paths = {
    "{0}/v2/domains/(?P<domain>[^/]*)/lineage/events$": dispatch,
    "{0}/v2/domains/(?P<domain>[^/]*)/lineage/events/(?P<identifier>[^/]+)$": dispatch,
}
