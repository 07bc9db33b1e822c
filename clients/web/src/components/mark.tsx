/** The mark of the product: a bound sheaf. The icon of the window is the same (index.html). */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg viewBox="0 0 24 24" width={size} height={size} aria-hidden="true" className="keep">
      <rect width="24" height="24" rx="6" fill="#1971c2" />
      <path
        d="M12 4.5v15M12 14.5C9 13 7.2 10 6.8 6.5M12 14.5c3-1.5 4.8-4.5 5.2-8M12 14.5c-.6 2.3-1.8 4-3.2 5M12 14.5c.6 2.3 1.8 4 3.2 5M9.2 14.500h5.6"
        fill="none"
        stroke="white"
        strokeWidth="1.7"
        strokeLinecap="round"
      />
    </svg>
  );
}
