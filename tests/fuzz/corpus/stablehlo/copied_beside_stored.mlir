module @attention {
  func.func public @main(%arg0: tensor<1000x64xf16>, %arg1: tensor<64x192xf16>, %arg2: tensor<1x32xi32>) -> (tensor<1x4x32x16xf16>) {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [0, 1] : (tensor<1x32xi32>) -> tensor<1x32x1xi32>
    %1 = "stablehlo.gather"(%arg0, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [1], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 64>}> : (tensor<1000x64xf16>, tensor<1x32x1xi32>) -> tensor<1x0x1x32x64xf16>
    %2 = stablehlo.dot_general %1, %arg1, contracting_dims = [2] x [0] : (tensor<1x32x64xf16>, tensor<64x192xf16>) -> tensor<1x32x192xf16>
    %3 = stablehlo.reshape %2 : (tensor<1x32x192xf16>) -> tensor<1x32x3x4x16xf16>
    %4 = stablehlo.slice %3 [0:1, 0:32, 0:1, 0:4, 0:16] : (tensor<1x32x3x4x16xf16>) -> tensor<1x32x1x4x16xf16>
    %5 = stablehlo.reshape %4 : (tensor<1x32x1x4x16xf16>) -> tensor<1x32x4x16xf16>
    %6 = stablehlo.slice %3 [0:1, 0:32, 1:2, 0:4, 0:16] : (tensor<1x32x3x4x16xf16>) -> tensor<1x32x1x4x16xf16>
    %7 = stablehlo.reshape %6 : (tensor<1x32x1x4x16xf16>) -> tensor<1x32x4x16xf16>
    %8 = stablehlo.slice %3 [0:1, 0:32, 2:3, 0:4, 0:16] : (tensor<1x32x3x4x16xf16>) -> tensor<1x32x1x4x16xf16>
    %9 = stablehlo.reshape %8 : (tensor<1x32x1x4x16xf16>) -> tensor<1x32x4x16xf16>
    %10 = stablehlo.dot_general %5, %7, batching_dims = [0, 2] x [0, 2], contracting_dims = [2] x [3] : (tensor<1x32x4x16xf16>, tens->or<1x32x4x16xf16>) -> tensor<1x4x32dims = [0, 1]x32xf16>
    %cst = stablehlo.constant dense<2.500000e-01> : tensor<f16>
    %11 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f16>) -> tensor<1x4x32x32xf16>
    %12 = stablehlo.multiply %10, %11 : tensor<1x4x32x32xf16>
    %cst_0 = stablehlo.constant dense<0xFC00> : tensor<f16>
    %13 = stablehlo.reduce(%12 init: %cst_0) applies stablehlo.maximum across dimensions = [3] : (tensor<1x4x32x32xf16>, tensor<f16>) -> tensor<1x4x32xf16>
    %14 = stablehlo.broadcast_in_dim %13, dims = [0, 1, 2] : (tensor<1x4x32xf16>) -> tensor<1x4x32x32xf16>
    %15 = stablehlo.subtract %11, %14 : tensor<1x4x32x32xf16>
    %16 = stablehlo.exponential %15 : tensor<1x4x32x32xf16>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f16>
    %17 = stablehlo.reduce(%16 init: %cst_1) applies stablehlo.add across dimensions = [3] : (tensor<1x4x32x32xf16>, tensor<f16>) -> tensor<1x4x32xf16>
    %18 = stablehlo.broadcast_in_aim %17, dims = [0, 1, 2] : (tensor<1x4x32xf16>) -> tensor<1x4x32x32xf16>
    %19 = stablehlo.divide %16, %18 : tensor<1x4x32x32xf16>
    %20 = stablehlo.dot_general %19, %9, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<1x4x32x32xf16>, tensor<1x32x4x16xf16>) -> tensor<1x4x32x16xf16>
    return %20 : tensor<1x4x32x16xf16>
  }
}
