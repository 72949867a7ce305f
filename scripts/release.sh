#!/usr/bin/env bash
# Makes a release of the version in CMakeLists.txt into dist/: runs every check, then writes the archives of the sources and of
# the documentation, the Debian packages, the wheels, the recipes of conda and Spack, and SHA256SUMS. It publishes nothing.
#   scripts/release.sh [--without-checks]        --without-checks: the checks passed already at this commit
# Needs what scripts/build_wheels.sh and scripts/test_packages.sh need: Debian 12, root, mmdebstrap and the network; Pythons 3.10 and
# 3.12 besides Debian's 3.11 (SLUICE_WHEEL_PYTHONS, if there are fewer).
# Environment: SLUICE_RELEASE_WHEELS   kinds of wheels; "cpu cuda" where nvcc is found, else cpu
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
cd "$root"

checks=true
case ${1:-} in
  "") ;;
  --without-checks) checks=false ;;
  *) echo "usage: scripts/release.sh [--without-checks]" >&2; exit 2 ;;
esac

version=$(sed -n 's/^project(Sluice VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
address=$(sed -n 's/^repository-code: *"\([^"]*\)".*/\1/p' CITATION.cff)
name=sluice-$version
dist=$root/dist

refuse() {
  echo "scripts/release.sh: $*" >&2
  exit 1
}

((EUID == 0)) || refuse "only root can test the packages in bare systems"
[[ -n $(type -P mmdebstrap) ]] || refuse "mmdebstrap is not installed: scripts/install_packages.sh mmdebstrap"
[[ -z $(git status --porcelain) ]] || refuse "the working tree has changes: commit them first"
python3 .ci/check_version.py || refuse "the places above name different versions"
grep -q "^## $version ([0-9]" CHANGELOG.md || refuse "CHANGELOG.md has no date for $version"
[[ $address != *OWNER* ]] || refuse "CITATION.cff does not name the address of the repository yet (repository-code)"

if $checks; then
  echo "Running all checks"
  .ci/run
fi

rm -rf "$dist"
mkdir "$dist"

echo "Archives"
git archive --prefix="$name/" -o "$dist/$name.tar.gz" HEAD
sum=$(sha256sum "$dist/$name.tar.gz" | cut -d ' ' -f 1)
python_environment "$root/build-release/python" mkdocs==1.6.1
"$root/build-release/python/bin/mkdocs" build --quiet --strict --site-dir "$root/build-release/site"
tar -C "$root/build-release" --transform "s,^site,$name-docs," -czf "$dist/$name-docs.tar.gz" site

echo "Recipes"
rm -rf build-release/recipes
cp -r packaging build-release/recipes
find build-release/recipes -type f -exec sed -i "s|@VERSION@|$version|g; s|@SHA256@|$sum|g; s|@REPOSITORY@|$address|g" {} +
tar -C build-release --transform "s,^recipes,$name-recipes," -czf "$dist/$name-recipes.tar.gz" recipes

echo "Debian packages"
scripts/build_deb.sh
cp build-package/*.deb "$dist"

echo "Wheels"
read -ra kinds <<<"${SLUICE_RELEASE_WHEELS:-cpu $(command -v nvcc >/dev/null && echo cuda)}"
rm -rf wheelhouse
scripts/build_wheels.sh "${kinds[@]}"
cp wheelhouse/*.whl "$dist"

echo "Testing the packages in bare systems"
scripts/test_packages.sh "$dist"/sluice-dns_*.deb "$dist"/*.whl

(cd "$dist" && find . -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs -d '\n' sha256sum >SHA256SUMS)
echo "dist/ holds $name. To publish: git tag -a v$version, push the tag, and upload what is in dist/"
