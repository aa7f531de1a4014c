export default function ({ data }) {
  for (const [name, value] of Object.entries(data))
    document.cookie = `${name}=${encodeURIComponent(value)}; path=/; max-age=31536000; samesite=strict`;
}
