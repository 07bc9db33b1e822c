const places = 4;
const goldenRatio = 0x9e3779b9;
// Any other basis is as good, but vectors of different bases do not compare: it is a part of the model.
const basis = 0x811c9d8b;

/**
 * Adds a feature to a hashed vector at four places, each with a sign of its own: two features seldom share more than one of them,
 * and what many features share cancels out on average.
 */
export function addFeature(vector: Float64Array, feature: string, weight: number): void {
  let hash = mix(fnv1a(feature));
  for (let index = 0; index < places; index += 1) {
    const place = (hash >>> 1) % vector.length;
    vector[place] = (vector[place] ?? 0) + (hash & 1 ? weight : -weight);
    hash = mix(hash ^ goldenRatio);
  }
}

function fnv1a(text: string): number {
  let hash = basis;
  for (let index = 0; index < text.length; index += 1) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}

/** Spreads every bit over all others (the finalizer of MurmurHash3). */
function mix(hash: number): number {
  let value = hash;
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
