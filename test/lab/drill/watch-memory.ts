import { readFileSync } from 'node:fs';
import type { Stack } from '../../../ops/local/stack.ts';

const sampleMs = 500;

/** Watches the resident memory of a process, also of its successors. Returns what ends that, and tells the most in MB; 0 where there is no `/proc`. */
export function watchMemory(stack: Stack, service: 'api' | 'worker'): () => number {
  let mostMb = 0;
  const sampler = setInterval(() => {
    mostMb = Math.max(mostMb, residentMb(stack.pid(service)));
  }, sampleMs);
  return () => {
    clearInterval(sampler);
    return mostMb;
  };
}

function residentMb(pid: number | undefined): number {
  try {
    const [, kilobytes = '0'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Math.round(Number(kilobytes) / 1_024);
  } catch {
    return 0;
  }
}
