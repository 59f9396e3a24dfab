#!/bin/sh
set -e
export STRIPE_KEY=CREDENTIAL
aws s3 sync dist "$BUCKET"
