module accuracy

go 1.21
