#!/bin/sh
# Runs a command that no registry answers: whatever asks one fails at once, at a port where nothing listens.
set -eu
nowhere=http://127.0.0.1:9
export http_proxy=$nowhere https_proxy=$nowhere all_proxy=$nowhere HTTP_PROXY=$nowhere HTTPS_PROXY=$nowhere ALL_PROXY=$nowhere
export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost
export npm_config_registry=$nowhere/ npm_config_fetch_retries=0 npm_config_audit=false npm_config_fund=false npm_config_update_notifier=false
export PIP_INDEX_URL=$nowhere/simple PIP_NO_INDEX=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_RETRIES=0 UV_OFFLINE=1 UV_INDEX_URL=$nowhere/simple
export CARGO_NET_OFFLINE=true CARGO_NET_RETRY=0
exec "$@"
