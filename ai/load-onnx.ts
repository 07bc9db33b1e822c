import { InferenceSession } from 'onnxruntime-node';

/** Loads a model in ONNX's format. */
export function loadOnnx(model: Buffer): Promise<InferenceSession> {
  // Two threads halve the time of a page on two cores; threads that spin while they wait would take it from others.
  const threads = { intraOpNumThreads: 2, interOpNumThreads: 1, extra: { session: { intra_op: { allow_spinning: '0' } } } };
  return InferenceSession.create(model, { ...threads, enableCpuMemArena: false });
}
