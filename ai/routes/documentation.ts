import { Router } from 'express';
import type { AiServiceConfig } from '../../config/ai-service.ts';

export function documentationRoutes(_config: AiServiceConfig): Router {
  return Router();
}
