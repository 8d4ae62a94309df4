#!/usr/bin/env bash
# Gets what the exports are tested against: Moodle's GIFT grammar (npm gift-pegjs) and the DTD of QTI 1.2, which ships
# in the sdist of pyslet. Both go to .cache, which is not committed.
set -euo pipefail
cd "$(dirname "$0")/../.."
python=${1:-.venv/bin/python}

if [ ! -d .cache/npm/node_modules/gift-pegjs ]; then
    mkdir -p .cache/npm
    npm install --silent --no-audit --no-fund --prefix .cache/npm gift-pegjs@^1
fi
if [ -z "$(find .cache/qti -name ims_qtiasiv1p2p1.dtd 2>/dev/null)" ]; then
    mkdir -p .cache/qti
    "$python" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest .cache/qti pyslet
    tar -xzf .cache/qti/pyslet-*.tar.gz -C .cache/qti --wildcards '*/data_imsqtiv1p2p1/ims_qtiasiv1p2p1.dtd'
fi
