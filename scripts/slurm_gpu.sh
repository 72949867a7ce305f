#!/usr/bin/env bash
# A GPU run of any length, one GPU per rank, under SLURM: stops cleanly before each time limit and then goes on.
#   sbatch scripts/slurm_gpu.sh CASE.yaml OUTPUT_DIRECTORY
# The program is that of the preset `cuda`. Adapt the lines marked with "site"; docs/parallel.md, On a cluster, says more.
#SBATCH --job-name=sluice
#SBATCH --account=my_project         # site
#SBATCH --partition=gpu              # site
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=4          # site: the GPUs of a node, one rank each
#SBATCH --gpus-per-node=4            # site
#SBATCH --cpus-per-task=8            # site: the cores of a node divided by its GPUs
#SBATCH --time=06:00:00
#SBATCH --signal=B:USR1@300          # 5 minutes before the limit: this script gets the signal
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=sluice_%j.log
set -uo pipefail

# site: the modules with which Sluice was built, and the folder of the program.
# module purge
# module load gcc/12 cuda/12 nccl/2 openmpi/4.1-cuda hdf5/1.14-parallel
# export PATH=$HOME/sluice/bin:$PATH

case_file=$1
output=$2

# site: SLUICE_CUDA_AWARE_MPI=0 stages messages through the host, should the MPI library claim support for device memory
# that it does not have. NCCL_SOCKET_IFNAME names the network between nodes if NCCL chooses a wrong one.
# export SLUICE_CUDA_AWARE_MPI=0
# export NCCL_SOCKET_IFNAME=ib0

# A rank takes the GPU of its number on the node. For the exchange method peer it must see all of them: --gpu-bind=none.
# site: how srun and the MPI library find each other. `srun --mpi=list` shows what this srun has: pmix for Open MPI,
# pmi2 or cray_shasta for MPICH and its kin. If nothing suits, start with mpirun:
# launch=(mpirun --map-by ppr:4:node --bind-to none).
launch=(srun --mpi=pmix --gpu-bind=none)

"${launch[@]}" sluice run "$case_file" --output "$output" --restart auto &
run=$!
trap 'kill -USR1 $run' USR1  # srun and mpirun hand it on to the ranks: checkpoint and stop
wait "$run"                  # ends when the run does, or when the signal comes
wait "$run"
code=$?
if ((code != 0)); then exit "$code"; fi  # an error: see the log; requeueing would only repeat it

# run.json says why the run stopped; one that ran out of time goes on in another job.
if grep -m 1 '"why_stopped"' "$output/run.json" | grep -qE 'wall-time|signal'; then
  scontrol requeue "$SLURM_JOB_ID"
fi
