/** Whether this page may write into the clipboard: browsers let only secure ones. */
export const canCopy = 'clipboard' in navigator;
