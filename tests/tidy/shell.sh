#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No committed shell script gives shellcheck anything to say.
set -eu
# shellcheck disable=SC2046 # names of the project have no spaces
git -c safe.directory='*' ls-files |
    xargs awk 'FNR == 1 && /^#!.*[\/ ](ba)?sh$/ {print FILENAME}' |
    xargs shellcheck --external-sources --source-path=SCRIPTDIR
