# Let every request in flight finish before the proxy ends: bash -c "$(cat this)" bash ADMIN_PORT LEAVE_S LIMIT_S
# Runs before the order to end, which Envoy obeys at once. Answers say "close" from the drain on, so that clients move.
set -eu
admin=$1 leave=$2 limit=$3
ask() {
  exec 3<>"/dev/tcp/127.0.0.1/$admin"
  printf '%s %s HTTP/1.1\r\nHost: admin\r\nConnection: close\r\nContent-Length: 0\r\n\r\n' "$1" "$2" >&3
  cat <&3
  exec 3>&-
}
ask POST '/drain_listeners?inboundonly&graceful&skip_exit' >&2
sleep "$leave" # until no balancer sends here any more
while [ "$SECONDS" -lt "$limit" ]; do
  [[ $(ask GET '/stats?filter=^http.https.downstream_rq_active$') =~ active:\ [1-9] ]] || exit 0
  sleep 1
done
