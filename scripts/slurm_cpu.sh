#!/usr/bin/env bash
# A CPU run of any length under SLURM: stops cleanly before each time limit and goes on in the next job by itself.
#   sbatch scripts/slurm_cpu.sh CASE.yaml OUTPUT_DIRECTORY
# Adapt the lines marked with "site"; docs/parallel.md, On a cluster, says more.
#SBATCH --job-name=sluice
#SBATCH --account=my_project         # site
#SBATCH --partition=standard         # site
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=64         # site: the cores of a node, one rank each
#SBATCH --cpus-per-task=1
#SBATCH --hint=nomultithread
#SBATCH --time=12:00:00
#SBATCH --signal=B:USR1@300          # 5 minutes before the limit: this script gets the signal
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=sluice_%j.log
set -uo pipefail

# site: the modules with which Sluice was built, and the folder of the program.
# module purge
# module load gcc/12 openmpi/4.1 hdf5/1.14-parallel fftw/3.3
# export PATH=$HOME/sluice/bin:$PATH

case_file=$1
output=$2

# site: how srun and the MPI library find each other. `srun --mpi=list` shows what this srun has: pmix for Open MPI,
# pmi2 or cray_shasta for MPICH and its kin. If nothing suits, start with mpirun: launch=(mpirun --bind-to core).
launch=(srun --mpi=pmix --cpu-bind=cores)

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
