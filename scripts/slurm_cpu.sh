#!/usr/bin/env bash
# A CPU run of any length under SLURM: stops in good order before each time limit and goes on in the next job by itself.
#   sbatch scripts/slurm_cpu.sh CASE.yaml OUTPUT_DIRECTORY
# Adapt the resources, and load what your cluster needs (compiler, MPI, HDF5).
#SBATCH --job-name=sluice
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=64
#SBATCH --time=12:00:00
#SBATCH --signal=USR1@300          # 5 minutes before the limit: checkpoint and stop
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=sluice_%j.log
set -uo pipefail

case_file=$1
output=$2

srun sluice run "$case_file" --output "$output" --restart auto
code=$?
if ((code != 0)); then exit "$code"; fi  # an error: see the log; requeueing would only repeat it

# run.json says why the run stopped; one that ran out of time goes on in another job.
if grep -m 1 '"why_stopped"' "$output/run.json" | grep -qE 'wall-time|signal'; then
  scontrol requeue "$SLURM_JOB_ID"
fi
