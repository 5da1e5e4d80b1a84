// CPU time of other processes, as Linux counts it. Elsewhere there is no /proc and the figures are 0.

import { readdirSync, readFileSync } from "node:fs";

/** Linux counts a process's time in ticks of 10 ms. */
const TICKS_PER_SECOND = 100;

interface Process {
  pid: number;
  parentPid: number;
  command: string;
  ticks: number;
}

/** Of one process, or of all processes of that command somewhere below one. */
export function cpuSecondsOf(which: { pid: number } | { below: number; command: string }): number {
  const processes = "pid" in which ? [readProcess(which.pid)] : allBelow(which.below, which.command);
  return processes.reduce((sum, process) => sum + (process?.ticks ?? 0), 0) / TICKS_PER_SECOND;
}

function allBelow(pid: number, command: string): Process[] {
  const all = new Map<number, Process>();
  for (const entry of listProc()) {
    const process = /^\d+$/.test(entry) ? readProcess(Number(entry)) : undefined;
    if (process) all.set(process.pid, process);
  }
  const isBelow = (process: Process | undefined): boolean =>
    process !== undefined && (process.parentPid === pid || isBelow(all.get(process.parentPid)));
  return [...all.values()].filter((process) => process.command === command && isBelow(process));
}

function listProc(): string[] {
  try {
    return readdirSync("/proc");
  } catch {
    return [];
  }
}

function readProcess(pid: number): Process | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The command stands in brackets and may hold spaces; state, parent, ... follow. utime and stime are 14 and 15.
    const [, command = "", rest = ""] = /\((.*)\) (.*)/.exec(stat) ?? [];
    const fields = rest.split(" ");
    return { pid, parentPid: Number(fields[1]), command, ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined; // It ended meanwhile.
  }
}
