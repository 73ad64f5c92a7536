#!/bin/sh
# Make a bare git repository with one commit from a folder: make_repository.sh <folder> <repository>. Once: an existing one stays.
set -eu
[ ! -e "$2/HEAD" ] || exit 0
export GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null
export GIT_AUTHOR_NAME=Cortex GIT_AUTHOR_EMAIL=cortex@localhost GIT_AUTHOR_DATE=2026-01-01T00:00:00Z
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL GIT_COMMITTER_DATE=$GIT_AUTHOR_DATE
unfinished="$2.new"
rm -rf "$unfinished"
git init --quiet --bare --template= --initial-branch=main "$unfinished"
git --git-dir="$unfinished" --work-tree="$1" add --all
git --git-dir="$unfinished" --work-tree="$1" commit --quiet --message="The example vault"
mv "$unfinished" "$2"
