const mebibyte = 1024 * 1024;

/** The memory that one process of each kind may have, in bytes. `AI_MEMORY` of docker-compose.yml holds the default numbers of them. */
export const memoryBytes = {
  service: 640 * mebibyte,
  reader: 1024 * mebibyte,
  answerer: 384 * mebibyte,
  recognizer: 1536 * mebibyte,
  tesseract: 640 * mebibyte,
  embedder: 768 * mebibyte,
};
