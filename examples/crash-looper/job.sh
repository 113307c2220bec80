#!/bin/sh
# Looks for its configuration, does not find it and exits.
echo "connecting ..."
sleep 2
echo "DATABASE_URL is not set" >&2
exit 1
