import '@mantine/core/styles.css';
import './main.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './queries.ts';
import { router } from './router.tsx';
import { resolveVariables, theme } from './theme.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
// For the library that locks scrolling behind a dialog.
Object.assign(globalThis, { __webpack_nonce__: nonce });

const container = document.getElementById('root');
if (container)
  createRoot(container).render(
    <StrictMode>
      <MantineProvider theme={theme} cssVariablesResolver={resolveVariables} defaultColorScheme="auto" getStyleNonce={() => nonce}>
        <QueryClientProvider client={queryClient}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </MantineProvider>
    </StrictMode>,
  );
