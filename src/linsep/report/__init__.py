"""Results as pages to look at: words, pictures and tables in one HTML file.

`shown_rows` chooses the rows a picture shows and places them in the plane, `charts`
draws them, `page` puts all into a template. What a page says of a `Separation` is in
`separation_page`; what it says of a diagnosis, in `linsep.diagnosis.report`.
"""
