module bugs

go 1.21
