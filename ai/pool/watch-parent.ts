import { Socket } from 'node:net';
import { lifelineDescriptor } from './protocol.ts';

// Runs as a thread of a pool's child, and waits until the parent's end of a pipe closes. The main thread may be busy with a document for
// minutes, and would notice the end of its parent too late.
const lifeline = new Socket({ fd: lifelineDescriptor });
lifeline.on('error', end);
lifeline.on('close', end);
lifeline.resume();

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}
