// Loaded before a program (`--import`): its requests wait for a lock, and for a connection, as long as a statement may
// take, so that a test can hold one until it has seen who waits, also on a busy machine.
import { boundsOf } from '../../db/bounds.ts';

const patientMs = 30_000;
Object.assign(boundsOf.request, { statementMs: patientMs, lockMs: patientMs, connectMs: patientMs });
