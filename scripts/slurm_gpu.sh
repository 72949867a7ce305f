#!/usr/bin/env bash
# A GPU run of any length, one GPU a rank, under SLURM: stops in good order before each time limit and goes on by itself.
#   sbatch scripts/slurm_gpu.sh CASE.yaml OUTPUT_DIRECTORY
# Adapt the resources, and load what your cluster needs (CUDA, MPI, HDF5). The program is that of the preset `cuda`.
#SBATCH --job-name=sluice
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4
#SBATCH --gpus-per-node=4
#SBATCH --time=06:00:00
#SBATCH --signal=USR1@300          # 5 minutes before the limit: checkpoint and stop
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=sluice_%j.log
set -uo pipefail

case_file=$1
output=$2

# A rank takes the GPU of its number on the node, so every rank must see all GPUs of the node. SLUICE_CUDA_AWARE_MPI=0
# stages messages through the host, should the MPI library claim a support for device memory that it does not have.
srun --gpu-bind=none sluice run "$case_file" --output "$output" --restart auto
code=$?
if ((code != 0)); then exit "$code"; fi  # an error: see the log; requeueing would only repeat it

# run.json says why the run stopped; one that ran out of time goes on in another job.
if grep -m 1 '"why_stopped"' "$output/run.json" | grep -qE 'wall-time|signal'; then
  scontrol requeue "$SLURM_JOB_ID"
fi
