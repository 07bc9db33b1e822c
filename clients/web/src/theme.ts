import { type CSSVariablesResolver, createTheme, Text } from '@mantine/core';

/** One color, whose shades are dark enough for white text and light enough for a dark page. */
export const theme = createTheme({
  primaryColor: 'blue',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  cursorType: 'pointer',
  headings: { fontWeight: '650' },
  components: { Text: Text.extend({ defaultProps: { size: 'sm' } }) },
});

/** Quiet text, that can still be read: the usual gray has too little contrast. */
export const resolveVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: { '--mantine-color-dimmed': '#565e66', '--mantine-color-error': '#c92a2a', '--mantine-color-placeholder': '#6b737b' },
  dark: { '--mantine-color-dimmed': '#a6adb4', '--mantine-color-error': '#ff8787', '--mantine-color-placeholder': '#9aa0a6' },
});
